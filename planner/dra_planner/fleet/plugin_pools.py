"""Pools whose devices a vendor's device plugin serves, before or next to DRA."""

from typing import Annotated, Literal

from pydantic import Field

from dra_planner.clouds import PluginServing
from dra_planner.documents.models import StrictDocument
from dra_planner.fleet.value_types import bounds, within

_REPLICAS = range(2, 129)


class PoolSharing(StrictDocument):
    """Settings for a device plugin that shares each device as multiple extended resource units."""

    strategy: Literal["time-slicing", "mps"] = Field(
        description="Sharing method: time-slicing, or MPS with equal shares of memory."
    )
    replicas: Annotated[int, within(_REPLICAS)] = Field(
        description="Number of units that each device provides.",
        json_schema_extra=bounds(_REPLICAS),
    )
    rename: bool = Field(
        default=False, description="Add .shared to the resource name: nvidia.com/gpu.shared."
    )


def serving_of(sharing: PoolSharing | None, mig: str, mig_strategy: str) -> PluginServing:
    """Return the serving in the planner's form. `mig_strategy` is "" if GPUs are whole."""
    if sharing is None:
        return PluginServing(mig=mig, mig_strategy=mig_strategy)
    return PluginServing(
        strategy=sharing.strategy,
        replicas=sharing.replicas,
        is_renamed=sharing.rename,
        mig=mig,
        mig_strategy=mig_strategy,
    )
