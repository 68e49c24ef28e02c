"""Digests of a plan's inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_planner.fleet import Fleet
from dra_planner.planfile.digest import digest
from dra_planner.planfile.workloads_digest import digest_documents
from dra_planner.sources import Source


def fleet_digest(fleet: Fleet) -> str:
    """Return the digest of a fleet with all defaults."""
    return digest(fleet.document())


def inputs_of(fleet: Fleet, sources: Iterable[Source], paths: Iterable[str] = ()) -> dict[str, Any]:
    """Return the `inputs` section: digests that don't depend on file names or the order of
    documents.
    """
    return {
        "fleet": fleet_digest(fleet),
        "workloads": digest_documents(sources),
        "paths": sorted(paths),
    }
