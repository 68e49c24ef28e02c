"""Convert values to and from the engine's protocol: plain JSON, with a sentinel for values that are
unknown in a preview.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct

Value: TypeAlias = Any
Values: TypeAlias = dict[str, Any]

# pulumi/pulumi:sdk/go/common/resource/plugin/rpc.go@v3.259.0: There is one sentinel for each type,
# but the type doesn't matter here.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SENTINELS = frozenset(
    {
        UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
# The key that marks a special object, and the values that identify its kind.
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"


def from_wire(struct: Struct) -> Values:
    """Return the values of a message, with secrets in plain text and integers as int."""
    opened: Values = _open(json_format.MessageToDict(struct))
    return opened


def to_wire(values: Values, secret: Collection[str] = ()) -> Struct:
    """Return a message with the values.

    Properties in `secret` are marked as secret, and None values are omitted, as in messages of the
    real providers.
    """
    struct = Struct()
    for name, value in values.items():
        if value is not None:
            struct.update(
                {name: {_SIGNATURE: _SECRET, "value": value} if name in secret else value}
            )
    return struct


def secret_names(struct: Struct) -> frozenset[str]:
    """Return the properties of a message that are secret or contain a secret."""
    return frozenset(
        name for name, value in json_format.MessageToDict(struct).items() if _holds_secret(value)
    )


def is_unknown(value: Value) -> bool:
    """Return True if the value isn't known before the resource exists."""
    return isinstance(value, str) and value in _SENTINELS


def holds_unknown(value: Value) -> bool:
    """Return True if any part of the value is unknown."""
    if isinstance(value, dict):
        return any(holds_unknown(member) for member in value.values())
    if isinstance(value, list):
        return any(holds_unknown(member) for member in value)
    return is_unknown(value)


def is_asset(value: Value) -> bool:
    """Return True if the value is a file or an archive."""
    return isinstance(value, dict) and _SIGNATURE in value


def _holds_secret(value: Value) -> bool:
    if isinstance(value, dict):
        return value.get(_SIGNATURE) == _SECRET or any(map(_holds_secret, value.values()))
    return isinstance(value, list) and any(map(_holds_secret, value))


def _open(value: Value) -> Value:
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            return _open(value.get("value"))
        return {name: _open(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_open(member) for member in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
