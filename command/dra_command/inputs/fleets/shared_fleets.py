"""Fleets that several repositories share: at a URL, or under a name in `pulumi-dra.yaml`."""

from __future__ import annotations

from dra_command.command_line.similar_words import near
from dra_command.inputs.fleets.shared_catalog import find_shared_catalog
from dra_planner.errors import SourceError
from dra_planner.fleet import Fleet, is_url, read_document, read_fleet
from dra_planner.wording import use_one_of
from dra_policies.configuration.location import find_configuration
from dra_policies.configuration.reading import read_configuration
from dra_policies.configuration.shared.fetching import fetch
from dra_policies.configuration.shared.locations import Location, parse_location


def find_shared_fleet(name: str, config: str = "") -> Fleet | None:
    """Return the fleet at a URL, or the fleet with a name under `fleets`. None if the configuration
    (by default, the nearest one) doesn't contain fleets, or if the name is a path.

    Raises PlannerError if the configuration contains other fleets, or if the fleet can't be
    fetched or isn't valid.
    """
    location = parse_location(name) if is_url(name) else _named(name, config)
    if location is None:
        return None
    source = fetch(location)
    return read_fleet(
        read_document(source.text, source.name),
        file=source.name,
        catalog=find_shared_catalog(".", config),
    )


def _named(name: str, config: str) -> Location | None:
    path = "" if "/" in name else config or find_configuration(".")
    fleets = read_configuration(path).fleets if path else {}
    if fleets and name not in fleets and "." not in name:
        suggestion = near(name, fleets)
        raise SourceError(
            f'"{name}" is neither a file nor a fleet in {path}',
            fix=f'did you mean "{suggestion}"?'
            if suggestion
            else f"pass a file, or {use_one_of('fleet', list(fleets))}",
        )
    return fleets.get(name)
