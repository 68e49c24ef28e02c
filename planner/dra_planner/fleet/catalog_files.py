"""Files of machine types that teams learned from their nodes, for all of their fleets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, ValidationError

from dra_planner.documents.models import StrictDocument
from dra_planner.documents.tree import line_at, path_text
from dra_planner.documents.validation import kind_of, sentences
from dra_planner.errors import FleetError, Place
from dra_planner.fleet.learned import LearnedMachine
from dra_planner.fleet.schema import Fleet


class _CatalogFile(StrictDocument):
    """What `pulumi-dra catalog add` prints."""

    catalog: list[LearnedMachine] = Field(description="Learned machine types.")


def parse_catalog(data: Any, *, file: str = "") -> tuple[LearnedMachine, ...]:
    """Return the machine types of a catalog file, given as `read_document` reads it; raises
    FleetError listing every fault.
    """
    if not isinstance(data, dict):
        message = f"a catalog must be a mapping with the key catalog, not {kind_of(data)}"
        fix = "write what `pulumi-dra catalog add` prints"
        raise FleetError(message, place=Place(file, line_at(data, ())), fix=fix)
    try:
        return tuple(_CatalogFile.model_validate(data).catalog)
    except ValidationError as error:
        first, *others = [
            FleetError(message, place=Place(file, line_at(data, at), path_text(at)), fix=fix)
            for at, (message, _, fix) in (
                (at, sentence.partition("; "))
                for at, sentence in sentences(error, data, document="the catalog", keys=["catalog"])
            )
        ]
        raise FleetError(
            first.message, place=first.place, fix=first.fix, others=tuple(others)
        ) from None


def with_catalog(fleet: Fleet, rows: Sequence[LearnedMachine]) -> Fleet:
    """Return the fleet with those rows that its pools use; its own rows take precedence, and later
    rows over earlier ones.
    """
    own = {row.machine for row in fleet.catalog}
    used = {pool.machine.partition("+")[0] for pool in fleet.pools} - own
    added = {row.machine: row for row in rows if row.machine in used}
    if not added:
        return fleet
    return fleet.model_copy(update={"catalog": [*fleet.catalog, *added.values()]})
