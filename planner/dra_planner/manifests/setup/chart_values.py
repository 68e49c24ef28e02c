"""Files with values of the NVIDIA driver's chart, among manifests or in pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.documents.tree import line_at
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.drivers.nvidia.chart_values import OWN, are_driver_values, value_faults
from dra_planner.errors import Diagnostic, Place
from dra_planner.sources import Source

_OWN_KEY: Final = re.compile(rf"^(?:{'|'.join(sorted(OWN))}|resources)\s*:", re.MULTILINE)
_OBJECT: Final = re.compile(r"^[\"']?(?:apiVersion|kind)[\"']?\s*:", re.MULTILINE)


def is_values_file(text: str) -> bool:
    """Return True if a text contains values of the NVIDIA driver's chart, and isn't a Kubernetes
    object.
    """
    return data_of(text) is not None


def values_findings(source: Source) -> Iterator[Diagnostic]:
    """Yield values of such a file that the chart rejects or ignores, at the line of their key."""
    data = data_of(source.text)
    for fault in value_faults(data) if data is not None else ():
        place = Place(source.name, line_at(data, (fault.key,)), fault.key)
        if fault.is_refused:
            yield Diagnostic("error", "value-refused", fault.message, place, fault.fix)
        else:
            yield Diagnostic("warning", "value-does-nothing", fault.message, place, fault.fix)


def data_of(text: str) -> dict[str, object] | None:
    """Return the driver chart's values in a text, or None if it contains something else."""
    # an object begins in its first lines, so this order avoids the search in the whole text
    if _OBJECT.search(text) is not None or _OWN_KEY.search(text) is None:
        return None
    try:
        data, _ = read_yaml(text)
    except Fault:
        return None
    return data if isinstance(data, dict) and are_driver_values(data) else None
