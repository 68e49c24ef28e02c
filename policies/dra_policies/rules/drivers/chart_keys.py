"""Values that a chart ignores, from the table `chart_values`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from dra_planner.catalog.chart_values import ChartKeys, chart_keys
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import DeclaredResource, StackView

_ALIKE: Final = 0.8
_MINOR: Final = re.compile(r"v?(\d+)\.(\d+)\.")


def ignored_keys(view: StackView) -> Iterator[Finding]:
    """Yield the values that charts ignore. If the table has another minor version of the chart,
    yield only keys that look misspelled.
    """
    types = {each.type for each in (*view.declared, *view.objects)}
    for chart in view.installed_charts:
        for row in chart_keys().get(chart.type.removeprefix("chart:"), ()):
            if not row.only_with or row.only_with in types:
                yield from _of_mapping(chart, row)


def _of_mapping(chart: DeclaredResource, row: ChartKeys) -> Iterator[Finding]:
    values = chart.props.at(row.path) if row.path else chart.props.values
    for key, value in (as_mapping(values) or {}).items():
        near = get_close_matches(key, row.keys, n=1, cutoff=_ALIKE)
        if value is None or key in row.keys or not (near or _is_same_minor(chart, row)):
            continue
        shown = f"{row.path}.{key}".removeprefix(".")
        yield Finding(
            message=f'chart "{chart.name}" doesn\'t define the value "{shown}", so this setting '
            "has no effect",
            fix=f'rename it to "{near[0]}"' if near else f'remove "{shown}"',
            urn=chart.urn,
        )


def _is_same_minor(chart: DeclaredResource, row: ChartKeys) -> bool:
    found = _MINOR.match(chart.version)
    return found is not None and tuple(map(int, found.groups())) == row.version[:2]
