"""A stack's options for its platform: inputs of DraPlatform, spelled as in other languages."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NotRequired, Union, cast, get_args, get_origin, is_typeddict

from dra_planner.errors import FleetError, Place
from pulumi_dra.inputs.reader import camel

SETTING = "pulumi-dra:platform"
_NOT_HERE = {"plan": "the stack's plan file sets this value; run `pulumi-dra plan --write`"}


def read_stack_options(document: object, *, file: str = "") -> dict[str, Any]:
    """Return the inputs of DraPlatform in a stack's `pulumi-dra:platform`, with Python's names.

    The annotations define the names, so keys of maps (labels, tags, add-on versions) stay
    unchanged. The components check the values. Raises FleetError for an unknown name, and suggests
    the most similar known name.
    """
    if document == {}:
        return {}
    # this import loads the Kubernetes SDK
    from pulumi_dra.platform.platform_inputs import DraPlatformArgs

    at = f"config.{SETTING}"
    options: dict[str, Any] = _renamed(document, DraPlatformArgs, at, file)
    for name, fix in _NOT_HERE.items():
        if name in options:
            raise FleetError(
                "can't be set in this file", place=Place(file, 0, f"{at}.{name}"), fix=fix
            )
    return options


def _renamed(value: object, kind: Any, at: str, file: str) -> Any:
    """Return the value with Python's names for all fields of its type."""
    inner = fields_of(kind)
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
            "must be a mapping",
            place=Place(file, 0, at),
            fix="use a mapping of options, for example `cluster:` with its options indented "
            "under it",
        )
    annotations: dict[str, Any] = inner.__annotations__
    types = {camel(name): (name, each) for name, each in annotations.items()}
    renamed: dict[str, Any] = {}
    for key, item in cast(Mapping[str, object], value).items():
        if key not in types:
            nearest = get_close_matches(str(key), types, 1)
            known = ", ".join(name for name in types if name not in _NOT_HERE)
            fix = (
                f'did you mean "{nearest[0]}"?'
                if nearest
                else (f"use one of these options: {known}")
            )
            raise FleetError(
                "isn't a platform option", place=Place(file, 0, f"{at}.{key}"), fix=fix
            )
        name, each = types[key]
        renamed[name] = _renamed(item, each, f"{at}.{key}", file)
    return renamed


def fields_of(kind: Any) -> Any:
    """Return the structure or list in a type that can be an output or optional, or None if it has
    neither.
    """
    if is_typeddict(kind) or get_origin(kind) is list:
        return kind
    members = get_args(kind) if get_origin(kind) in (NotRequired, Union) else ()
    return next((found for each in members if (found := fields_of(each)) is not None), None)
