"""How a vendor's device plugin serves a pool's devices, without DRA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

TIME_SLICING: Final = "time-slicing"
MPS: Final = "mps"
RENAMED: Final = ".shared"  # suffix of an extended resource whose units are shares


class PluginServing(Struct, frozen=True, kw_only=True):
    """The meaning of one unit of the plugin's resource on a node.

    `strategy` is "time-slicing" or "mps" if the plugin serves each device as `replicas` units. In
    that case, `is_renamed` adds .shared to the resource's name. `mig_strategy` is "single"
    (partitions have the name of whole GPUs), "mixed" (each profile has its own name), or "" if the
    pool's MIG configuration `mig` leaves GPUs whole.
    """

    strategy: str = ""
    replicas: int = 1
    is_renamed: bool = False
    mig: str = "none"
    mig_strategy: str = ""

    @property
    def config_name(self) -> str:
        """Return the name of the plugin's configuration for such nodes, or "" for whole GPUs with
        one unit each.
        """
        parts = [f"mig-{self.mig_strategy}"] if self.mig_strategy else []
        parts += [f"{self.strategy}-{self.replicas}"] if self.strategy else []
        parts += ["renamed"] if self.is_renamed else []
        return "-".join(parts)

    def resource(self, name: str) -> str:
        """Return the name under which the plugin serves a resource."""
        return f"{name}{RENAMED}" if self.is_renamed else name


class CloudPlugin(Struct, frozen=True, kw_only=True):
    """A cloud's support of NVIDIA's device plugin.

    `is_built_in` is set if the cloud runs its own plugin on nodes that aren't DRA nodes, so a fleet
    can't install one. `replicas` is the maximum number of units per device. `mig_strategies` starts
    with the default strategy. `renames` is set if shared units can have a different name.
    """

    is_built_in: bool = False
    replicas: int = 128
    mig_strategies: tuple[str, ...] = ("mixed", "single")
    renames: bool = True

    def faults(self, title: str, plugin: PluginServing) -> Iterator[tuple[str, str]]:
        """Yield the settings that the cloud doesn't support, each with its key in the pool."""
        if plugin.replicas > self.replicas:
            yield (
                "sharing.replicas",
                f"{title} divides a GPU into at most {self.replicas} units, not {plugin.replicas}",
            )
        if plugin.is_renamed and not self.renames:
            yield (
                "sharing.rename",
                (f"{title} always serves shared GPUs as nvidia.com/gpu; remove sharing.rename"),
            )
        if plugin.mig_strategy and plugin.mig_strategy not in self.mig_strategies:
            only = self.mig_strategies[0]
            yield (
                "migStrategy",
                f"{title} supports only the strategy {only}; set migStrategy to {only}",
            )
