"""What a stack says of its platform beside the fleet: the inputs of DraPlatform, spelt as in every
language.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NotRequired, Union, cast, get_args, get_origin, is_typeddict

from dra_planner.errors import FleetError, Place
from pulumi_dra.inputs.reader import camel

SETTING = "pulumi-dra:platform"
_NOT_HERE = {"plan": "the stack's plan file is the plan; `pulumi-dra plan --write` writes it"}


def read_stack_options(document: object, *, file: str = "") -> dict[str, Any]:
    """Return the inputs of DraPlatform that a stack's `pulumi-dra:platform` says, in Python's
    names.

    Names are known by the annotations, so keys of maps (labels, tags, versions of add-ons) stay as
    they are; values are checked by the components. Raises FleetError for a name that is no input,
    with the nearest one.
    """
    if document == {}:
        return {}
    from pulumi_dra.platform.platform_inputs import DraPlatformArgs  # brings the SDK of Kubernetes

    at = f"config.{SETTING}"
    options: dict[str, Any] = _renamed(document, DraPlatformArgs, at, file)
    for name, fix in _NOT_HERE.items():
        if name in options:
            raise FleetError("can't be set here", place=Place(file, 0, f"{at}.{name}"), fix=fix)
    return options


def _renamed(value: object, kind: Any, at: str, file: str) -> Any:
    """Return the value with the names of Python wherever its type has fields."""
    inner = _fields_of(kind)
    if get_origin(inner) is list and isinstance(value, Sequence) and not isinstance(value, str):
        items = cast(Sequence[object], value)
        return [
            _renamed(item, get_args(inner)[0], f"{at}[{index}]", file)
            for index, item in enumerate(items)
        ]
    if inner is None or not is_typeddict(inner):
        return value
    if not isinstance(value, Mapping):
        raise FleetError(
            "must be a mapping", place=Place(file, 0, at), fix="write options by their names"
        )
    annotations: dict[str, Any] = inner.__annotations__
    types = {camel(name): (name, each) for name, each in annotations.items()}
    renamed: dict[str, Any] = {}
    for key, item in cast(Mapping[str, object], value).items():
        if key not in types:
            nearest = get_close_matches(str(key), types, 1)
            known = ", ".join(name for name in types if name not in _NOT_HERE)
            fix = f'did you mean "{nearest[0]}"?' if nearest else f"options are {known}"
            raise FleetError(
                "is not an option of the platform", place=Place(file, 0, f"{at}.{key}"), fix=fix
            )
        name, each = types[key]
        renamed[name] = _renamed(item, each, f"{at}.{key}", file)
    return renamed


def _fields_of(kind: Any) -> Any:
    """Return the structure or list in a type that may be an output, or left out; None where there
    is neither.
    """
    if is_typeddict(kind) or get_origin(kind) is list:
        return kind
    members = get_args(kind) if get_origin(kind) in (NotRequired, Union) else ()
    return next((found for each in members if (found := _fields_of(each)) is not None), None)
