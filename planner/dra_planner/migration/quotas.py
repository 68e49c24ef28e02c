"""ResourceQuotas and LimitRanges that count extended resources.

Source: kubernetes/kubernetes:pkg/quota/v1/evaluator/core/resource_claims.go@v1.37.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dra_planner.documents.plain_values import block, number
from dra_planner.migration.editor import Editor, Path

ClassOf = Callable[[str], str]
"""The DeviceClass whose devices take the place of an extended resource; "" if there is none."""


def migrate_quota(editor: Editor, prefix: Path, class_of: ClassOf) -> Iterator[str]:
    """Let a quota count devices of claims beside units of device plugins; yield what changed.

    The old key stays: it counts the pods that haven't moved, and claims too if a class serves the
    name.
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
            f"{new}: {total} limits the devices of claims; keep {' and '.join(keys)} until the "
            "last pod has moved, and "
            "don't set it to 0 if a DeviceClass serves the name, because claims count against it "
            "too"
        )


def migrate_limit_range(
    editor: Editor, prefix: Path, is_device: Callable[[str], bool]
) -> Iterator[str]:
    """Remove extended resources from a LimitRange: it would add a device to every container, also
    to migrated ones.
    """
    limits = editor.get((*prefix, "spec", "limits"))
    for index in reversed(range(len(limits) if isinstance(limits, list) else 0)):
        entry = limits[index]
        for section in ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio"):
            for name in [each for each in block(entry, section) if is_device(str(each))]:
                editor.remove((*prefix, "spec", "limits", index, section, name))
                yield f"{section} no longer sets {name}, {_consequence(section, name)}"


def _consequence(section: str, name: str) -> str:
    if section in ("default", "defaultRequest"):
        return f"which would give every container {name}, including containers that request a claim"
    return (
        "which has no counterpart for claims; a ValidatingAdmissionPolicy can limit the count "
        "of a request"
    )
