"""The maximum sizes of a device's parts, from the limits of the API.

Source of the figures: kubernetes/dynamic-resource-allocation:cel/compile.go@v0.36.3,
kubernetes/api:resource/v1/types.go@v0.36.3.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dra_planner.cel.cost.ranges import Range


class _Declared(Struct, frozen=True):
    most: int
    key: _Declared | None = None
    value: _Declared | None = None
    fields: dict[str, _Declared] = {}


_DOMAIN: Final = _Declared(63)
_NAME: Final = _Declared(32)
_ATTRIBUTE: Final = _Declared(64)
_DEVICE: Final = _Declared(
    0,
    fields={
        "driver": _Declared(63),
        "allowMultipleAllocations": _Declared(1),
        "attributes": _Declared(32, _DOMAIN, _Declared(32, _NAME, _ATTRIBUTE)),
        "capacity": _Declared(32, _DOMAIN, _Declared(32, _NAME, _Declared(0))),
    },
)


class Path:
    """A path that grows like a Go slice: paths that are appended to the same path can share memory.

    Upstream's estimator appends to paths without copying them, so the path of a loop's key can end
    like the path of its value. Some estimates are lower because of this.
    """

    __slots__ = ("_capacity", "_length", "_steps")

    def __init__(self, *steps: str) -> None:
        self._steps = list(steps)
        self._length = self._capacity = len(steps)

    def __bool__(self) -> bool:
        return self._length > 0

    def steps(self) -> list[str]:
        """Return the current steps of the path."""
        return self._steps[: self._length]

    def then(self, step: str) -> Path:
        """Return the path with one more step."""
        longer = Path()
        longer._length = self._length + 1
        if self._length < self._capacity:
            longer._steps, longer._capacity = self._steps, self._capacity
            self._steps[self._length] = step
            return longer
        longer._capacity = max(1, 2 * self._capacity)
        longer._steps = [*self.steps(), step, *[""] * (longer._capacity - longer._length)]
        return longer


def declared_size(path: list[str]) -> Range | None:
    """Return the size of the value at a path of fields, @keys, @values, and @items from `device`,
    or None if no size is declared.
    """
    if not path or path[0] != "device":
        return None
    current = _DEVICE
    for step in path[1:]:
        if step in ("@items", "@values"):
            below = current.value
        elif step == "@keys":
            below = current.key
        else:
            below = current.fields.get(step) or (
                _ATTRIBUTE if current.value is _ATTRIBUTE else None
            )
        if below is None:
            return None
        current = below
    return 0, current.most
