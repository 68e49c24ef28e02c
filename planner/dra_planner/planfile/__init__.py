"""The schema of the plan file, its digests, and its place in the repository and the stack.

The document is a lock file. Its `digest` covers its own content, which detects manual edits.
`inputs` covers the fleet and the workloads, which detects stale plans. It's deterministic, and
doesn't contain secrets or file locations.
"""

from __future__ import annotations

from dra_planner.planfile.demand import (
    ApiObject,
    BlockedRow,
    ClaimRow,
    DemandPart,
    FiguresRow,
    GangPartRow,
    GangRow,
    KeyRow,
    MemberRow,
    ReasonRow,
    ShapeRow,
)
from dra_planner.planfile.document import (
    RECORD_DOCUMENT,
    RECORD_TYPE,
    canonical_text,
    file_text,
    parse_document,
    plan_path,
    read_document,
    read_plan_file,
    seal,
)
from dra_planner.planfile.freshness import check_inputs
from dra_planner.planfile.guards import GuardsPart
from dra_planner.planfile.inputs import fleet_digest, inputs_of
from dra_planner.planfile.placement_policies import placement_policies, policy_name
from dra_planner.planfile.schema import (
    VERSION,
    CountRow,
    DevicesRow,
    Inputs,
    NodesRow,
    PlacementRow,
    PlanFile,
    PoolRow,
    WorkloadRow,
)

__all__ = [
    "RECORD_DOCUMENT",
    "RECORD_TYPE",
    "VERSION",
    "ApiObject",
    "BlockedRow",
    "ClaimRow",
    "CountRow",
    "DemandPart",
    "DevicesRow",
    "FiguresRow",
    "GangPartRow",
    "GangRow",
    "GuardsPart",
    "Inputs",
    "KeyRow",
    "MemberRow",
    "NodesRow",
    "PlacementRow",
    "PlanFile",
    "PoolRow",
    "ReasonRow",
    "ShapeRow",
    "WorkloadRow",
    "canonical_text",
    "check_inputs",
    "file_text",
    "fleet_digest",
    "inputs_of",
    "parse_document",
    "placement_policies",
    "plan_path",
    "policy_name",
    "read_document",
    "read_plan_file",
    "seal",
]
