"""The set of changes that makes all workloads fit together."""

from __future__ import annotations

from pydantic import Field

from dra_command.contract.output import Output


class JointFixRow(Output):
    """Changes that together let every workload run, confirmed by a new plan."""

    steps: list[str]
    more_per_hour: float | None = Field(
        description="Change in US dollars of the nodes in use, null if a price is unknown."
    )
