"""Names of a stack's platform options (`pulumi-dra:platform`), which the program passes to
DraPlatform. The components check the values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from dra_planner.errors import FleetError, Place

_MOST_SHOWN: Final = 8
_FILE: Final = Path(__file__).parents[1] / "data" / "platform_options.json"


def check_option_names(options: object, *, file: str, at: str) -> None:
    """Raise FleetError for a name that isn't an option, with the nearest one."""
    _check(options, _names(), file, at)


@cache
def _names() -> Any:
    """Return the names, which `make docs` generates from the components."""
    return json.loads(_FILE.read_text(encoding="utf-8"))


def _check(value: object, names: Any, file: str, at: str) -> None:
    if isinstance(names, list) and isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            _check(item, names[0], file, f"{at}[{index}]")
    if not isinstance(names, Mapping) or not isinstance(value, Mapping):
        return
    for key, item in value.items():
        if key not in names:
            nearest = get_close_matches(str(key), names, 1)
            shown = ", ".join([*names][:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
            fix = (
                f'did you mean "{nearest[0]}"?' if nearest else f"use one of these options: {shown}"
            )
            raise FleetError(
                "isn't a platform option", place=Place(file, 0, f"{at}.{key}"), fix=fix
            )
        _check(item, names[key], file, f"{at}.{key}")
