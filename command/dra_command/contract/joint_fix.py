"""The set of changes that makes all workloads fit together."""

from __future__ import annotations

from pydantic import Field

from dra_command.contract.output import Output


class JointFixRow(Output):
    """Changes that together make all workloads fit, verified by a new plan."""

    steps: list[str]
    more_per_hour: float | None = Field(
        description="Change in the cost of the nodes in use, in US dollars per hour. null if a "
        "price is unknown."
    )
    peak_more_per_hour: float | None = Field(
        description="The same change with the nodes for all additional pods of autoscalers and "
        "rollouts, at least `more_per_hour`. null if a price is unknown."
    )
