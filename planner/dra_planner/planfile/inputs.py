"""What a plan was made from, known by digests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_planner.errors import NOWHERE, Place, PlanFileError
from dra_planner.fleet import Fleet
from dra_planner.planfile.digest import digest
from dra_planner.planfile.schema import PlanFile
from dra_planner.sources import Source, digest_documents


def fleet_digest(fleet: Fleet) -> str:
    """Return the digest of a fleet with its defaults filled in."""
    return digest(fleet.document())


def inputs_of(fleet: Fleet, sources: Iterable[Source], paths: Iterable[str] = ()) -> dict[str, Any]:
    """Return the `inputs` section: digests that do not depend on file names or the order of documents."""
    return {
        "fleet": fleet_digest(fleet),
        "workloads": digest_documents(sources),
        "paths": sorted(paths),
    }


def check_inputs(
    plan_file: PlanFile,
    fleet: Fleet,
    sources: Iterable[Source] | None,
    place: Place = NOWHERE,
    *,
    fix: str = "",
) -> None:
    """Raise PlanFileError naming what changed since the plan was made; `sources` None means they cannot be read."""
    changed = []
    if plan_file.inputs.fleet != fleet_digest(fleet):
        changed.append("the fleet")
    if sources is not None and plan_file.inputs.workloads != digest_documents(sources):
        changed.append("the workloads")
    if changed:
        verb = "have" if changed[-1] == "the workloads" or len(changed) > 1 else "has"
        raise PlanFileError(
            f"is stale: {' and '.join(changed)} {verb} changed since it was made",
            place=place,
            fix=fix or "run `pulumi-dra plan --stack STACK --write`",
        )
