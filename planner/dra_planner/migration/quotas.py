"""ResourceQuotas that count extended resources.

Source: kubernetes/kubernetes:pkg/quota/v1/evaluator/core/resource_claims.go@v1.37.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dra_planner.documents.plain_values import number
from dra_planner.migration.editor import Editor, Path
from dra_planner.wording import listed

ClassOf = Callable[[str], str]
"""The DeviceClass that replaces an extended resource, or "" if there is none."""


def migrate_quota(editor: Editor, prefix: Path, class_of: ClassOf) -> Iterator[str]:
    """Change a quota so that it counts devices of claims in addition to units of device plugins.

    Yield the changes. The old key stays, because it counts the pods that haven't moved. If a class
    serves the name, the key also counts claims.
    """
    path: Path = (*prefix, "spec", "hard")
    hard = editor.get(path)
    wanted: dict[str, tuple[int, list[str]]] = {}
    for key, amount in hard.items() if isinstance(hard, Mapping) else ():
        device_class = class_of(str(key).removeprefix("requests."))
        count = number(amount) if device_class and str(key).startswith("requests.") else None
        if device_class and count is not None and count >= 0:
            total, keys = wanted.get(device_class, (0, []))
            wanted[device_class] = total + count, [*keys, str(key)]
    for device_class, (total, keys) in wanted.items():
        new = f"{device_class}.deviceclass.resource.k8s.io/devices"
        if new in hard:
            continue
        editor.set((*path, new), str(total))
        yield (
            f"{new}: {total} limits the devices of claims. Keep {listed(keys)} until the last pod "
            "has moved. If a DeviceClass serves the resource, don't set the old limit to 0, "
            "because claims also count against this limit"
        )
