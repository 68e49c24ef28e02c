"""Compare the versions of custom resources that a stack's charts install with the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from dra_planner.catalog.api_constraints import definition_charts
from dra_policies.view.stack_view import DeclaredResource

TableAge = Literal["current", "older", "unknown"]
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


def table_age(token: str, charts: Iterable[DeclaredResource]) -> TableAge:
    """Return whether the tables have the definitions of a custom resource in the versions that the
    charts of the stack install: *current* if no chart is newer, *older* if one is, or *unknown*.
    """
    group = token.removeprefix("kubernetes:").partition("/")[0]
    found = definition_charts().get(group)
    if found is None or not token.startswith("kubernetes:"):
        return "unknown"
    versions = [
        _VERSION.match(each.version)
        for each in charts
        if each.type.removeprefix("chart:") in found.charts
    ]
    numbers = [tuple(map(int, each.groups())) for each in versions if each is not None]
    if any(each > found.version for each in numbers):
        return "older"
    return "current" if numbers and len(numbers) == len(versions) else "unknown"
