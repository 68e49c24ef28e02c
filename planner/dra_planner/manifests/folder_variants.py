"""Find objects that several files of a folder define, for example variants of an example, or bases
and overlays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.wording import counted

_FIX = "if the files are alternatives, pass only one of them. Otherwise, rename the objects"


def alternative_notes(
    repeated: Iterable[tuple[KubernetesObject, KubernetesObject]],
) -> Iterator[Diagnostic]:
    """Yield one note for each folder with objects that another file also defines.

    Each pair contains an object, and the first object with its name, which is the object that
    counts.
    """
    folders: dict[str, list[tuple[KubernetesObject, KubernetesObject]]] = {}
    for item, first in repeated:
        folders.setdefault(os.path.dirname(item.place.file) or ".", []).append((item, first))
    for folder, pairs in folders.items():
        item, first = pairs[0]
        count = counted(len({(each.kind, each.key) for each, _ in pairs}), "object")
        message = (
            f'the files in "{folder}" define {count} more than once, so the plan uses only the first '
            "definition. "
            f"For example, {item} is also in {first.place.file}:{first.place.line}"
        )
        yield Diagnostic("note", "duplicate-object", message, item.place, _FIX)
