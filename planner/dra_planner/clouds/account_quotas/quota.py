"""A quota of a cloud account: its limit, the machine types that it counts, and the command that
requests more.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from dra_planner.records import equality


@equality(ignored=("request",))
class AccountQuota(Struct, frozen=True, kw_only=True):
    """A limit on vCPUs or GPUs of some machine types in a region.

    `unit` is vcpus or gpus. `used` is the current usage (0 if the export doesn't state it).
    `machines` are patterns of machine types. `capacity` lists the capacity types that count.
    `request` returns the command that requests a limit.
    """

    name: str
    unit: str
    limit: int
    used: int
    machines: tuple[str, ...]
    capacity: tuple[str, ...]
    request: Callable[[int], str]

    @property
    def free(self) -> int:
        """The part of the limit that isn't used."""
        return max(0, self.limit - self.used)
