"""Output of `pulumi-dra verify`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dra_command.contract.output import Output, VerdictText


class NodeDifferenceRow(Output):
    """One difference between the prediction and the cluster. An empty value means that it exists
    only on the other side.
    """

    pool: str
    node: str
    aspect: str
    subject: str
    field: str
    predicted: str
    observed: str


class MissingRow(Output):
    """A missing line in `planner/dra_planner/data/<table>.csv`, with the reason to add it."""

    table: str
    line: str
    reason: str
    replaces: str = Field(
        description="First cell of the row to replace with this line. Empty to append the line."
    )


class VerifyOutput(Output):
    """Output of `pulumi-dra verify --format json`."""

    version: Literal[1] = 1
    verdict: VerdictText = Field(
        description="cannot-tell if no node in the snapshot belongs to a pool, or if `unknown` "
        "isn't empty."
    )
    compared: dict[str, list[str]] = Field(description="Number of nodes by pool.")
    pools_without_nodes: list[str]
    nodes_without_pool: list[str] = Field(
        description="Nodes outside the fleet's pools, if they publish devices."
    )
    differences: list[NodeDifferenceRow]
    rows_to_add: list[MissingRow]
    unplanned_workloads: dict[str, int] = Field(
        default_factory=dict,
        description="Number of pods that use claims but aren't in the plan, by workload. These "
        "pods can run in any pool. Empty for plans without guards.",
    )
    unknown: list[str] = Field(
        default_factory=list,
        description="Parts of the plan that aren't visible in the snapshot. If any exist, the "
        "verdict is at best cannot-tell.",
    )
    learned_machines: list[dict[str, Any]] = Field(
        description="Rows for the fleet's `catalog` key, in the format of `catalog add`, for "
        "machine types whose devices differ from the prediction."
    )
