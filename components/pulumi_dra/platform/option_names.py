"""The names of a stack's platform options, as data for commands that don't load the components."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin, is_typeddict

from pulumi_dra.inputs.reader import camel
from pulumi_dra.platform.platform_inputs import DraPlatformArgs
from pulumi_dra.platform.stack_options import fields_of

FILE = "planner/dra_planner/data/platform_options.json"


def text() -> str:
    """Return the names as JSON: a mapping for a structure, a list with one for a list of them, and
    null for other values. `make docs` writes it.
    """
    return json.dumps(_names(DraPlatformArgs), indent=1, sort_keys=True) + "\n"


def _names(kind: Any) -> Any:
    inner = fields_of(kind)
    if get_origin(inner) is list:
        of_items = _names(get_args(inner)[0])
        return None if of_items is None else [of_items]
    if inner is None or not is_typeddict(inner):
        return None
    return {camel(name): _names(each) for name, each in inner.__annotations__.items()}
