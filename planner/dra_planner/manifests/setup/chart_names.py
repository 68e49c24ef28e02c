"""Find the names that chart values of the NVIDIA driver give to its objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.manifests.setup.chart_objects import KINDS, driver_values
from dra_planner.manifests.setup.chart_values import data_of
from dra_planner.sources import Source

_KEY: Final = "nameOverride"


def names_given(sources: Iterable[Source]) -> frozenset[str]:
    """Return the values of `nameOverride` in files of values and in objects that install the
    chart.
    """
    found = set[str]()
    for source in sources:
        if _KEY not in source.text:
            continue
        data = data_of(source.text)
        if data is not None:
            found.add(str(data.get(_KEY, "")))
            continue
        objects = [
            each
            for each in read_objects(read_documents([source])[0])
            if (each.group, each.kind) in KINDS
        ]
        found |= {str(values.get(_KEY, "")) for each in objects for values in driver_values(each)}
    return frozenset(found - {""})
