"""Learned machine types that a project shares among its fleets: `catalog` of `pulumi-dra.yaml`."""

from __future__ import annotations

import re
from typing import Final

from dra_planner.fleet import LearnedMachine, parse_catalog, read_document
from dra_planner.sources import Source, read_file
from dra_policies.configuration.location import find_configuration

_MAY_NAME_IT: Final = re.compile(r"^\s*\{|^(catalog|extends)\b", re.MULTILINE)


def find_shared_catalog(start: str, config: str = "") -> tuple[LearnedMachine, ...]:
    """Return the rows of the catalog files that the configuration (by default, the nearest one)
    names, starting with the lowest precedence.

    Raises PlannerError if a file can't be read, or isn't a catalog.
    """
    return tuple(
        row
        for source in find_catalog_files(start, config)
        for row in parse_catalog(read_document(source.text, source.name), file=source.name)
    )


def find_catalog_files(start: str, config: str = "") -> tuple[Source, ...]:
    """Return the catalog files that the configuration (by default, the nearest one) names, starting
    with the lowest precedence. Raises PlannerError if a file can't be read.
    """
    path = config or find_configuration(start)
    if not path or not _MAY_NAME_IT.search(read_file(path).text):
        return ()
    from dra_policies.configuration.reading import read_configuration  # noqa: PLC0415  (loads all rules)
    from dra_policies.configuration.shared.fetching import fetch  # noqa: PLC0415  (loads an HTTP client)

    return tuple(fetch(*each) for each in read_configuration(path).catalog)
