"""Lines of pools in the file that defines a fleet, for findings about pools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from dra_planner.documents.tree import line_at
from dra_planner.errors import Place, PlannerError
from dra_planner.fleet.reading import is_url, read_document
from dra_planner.sources import read_file

_FLEET = "pulumi-dra:fleet"


class FleetPlaces(Struct, frozen=True):
    """The place of a fleet in its file, and the places of its pools by name."""

    fleet: Place
    pools: Mapping[str, Place] = {}


def find_fleet_places(file: str, project: Path = Path()) -> FleetPlaces:
    """Return the places in a fleet file or in the settings file of a stack, whose fleet can be a
    file relative to `project`. If the file can't be read as a fleet, return its first line.
    """
    try:
        data = read_document(read_file(file).text, file)
        config = data.get("config") if isinstance(data, Mapping) else None
        if isinstance(config, Mapping):
            data, line = config.get(_FLEET), line_at(config, (_FLEET,))
            if isinstance(data, str) and is_url(data):
                return FleetPlaces(Place(file, line))
            if isinstance(data, str):
                return find_fleet_places(str(project / data))
    except PlannerError:  # the file belongs to another tool
        return FleetPlaces(Place(file, 1))
    return FleetPlaces(Place(file, line_at(data, ()) or 1), _pools(data, file))


def _pools(data: Any, file: str) -> dict[str, Place]:
    pools = data.get("pools") if isinstance(data, Mapping) else None
    return {
        str(pool["name"]): Place(file, line_at(data, ("pools", index)))
        for index, pool in enumerate(pools if isinstance(pools, list) else ())
        if isinstance(pool, Mapping) and "name" in pool
    }
