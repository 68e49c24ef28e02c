"""RuntimeClasses in API form."""

from __future__ import annotations

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import Data, parse_amounts, parse_meta, parse_texts
from dra_planner.manifests.parsing.pods import parse_toleration
from dra_planner.model import RuntimeClass


def parse_runtime_class(data: Data, place: Place = NOWHERE) -> RuntimeClass:
    """Return the overhead and scheduling rules that a RuntimeClass adds to pods. Raises
    QuantityError for an invalid overhead.
    """
    overhead, scheduling = data.get("overhead"), data.get("scheduling") or {}
    return RuntimeClass(
        meta=parse_meta(data.get("metadata"), place, namespaced=False),
        overhead=None if overhead is None else parse_amounts(overhead.get("podFixed")),
        node_selector=parse_texts(scheduling.get("nodeSelector")),
        tolerations=tuple(parse_toleration(item) for item in scheduling.get("tolerations") or ()),
    )
