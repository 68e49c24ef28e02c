"""Check that a plan file matches its inputs."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.errors import NOWHERE, Place, PlanFileError
from dra_planner.fleet import Fleet
from dra_planner.planfile.inputs import fleet_digest
from dra_planner.planfile.schema import PlanFile
from dra_planner.planfile.workloads_digest import digest_documents
from dra_planner.sources import Source


def check_inputs(
    plan_file: PlanFile,
    fleet: Fleet | None,
    sources: Iterable[Source] | None,
    place: Place = NOWHERE,
    *,
    fix: str = "",
) -> None:
    """Raise PlanFileError with the changes since the plan was created.

    `fleet` and `sources` are None if they can't be read in this environment.
    """
    changed = []
    if fleet is not None and plan_file.inputs.fleet != fleet_digest(fleet):
        changed.append("the fleet")
    if sources is not None and plan_file.inputs.workloads != digest_documents(sources):
        changed.append("the workloads")
    if changed:
        verb = "have" if changed[-1] == "the workloads" or len(changed) > 1 else "has"
        raise PlanFileError(
            f"the plan is stale: {' and '.join(changed)} {verb} changed since the plan was written",
            place=place,
            fix=fix or "run `pulumi-dra plan --stack STACK --write`",
        )
