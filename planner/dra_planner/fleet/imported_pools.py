"""Parts of a fleet that is created from an existing cluster: names of pools, and labels to keep."""

from __future__ import annotations

import re
from typing import Final

from dra_planner.clouds import POOL, Cloud

_OF_OTHERS: Final = re.compile(
    r"(^|\.)(kubernetes\.io|k8s\.io|nvidia\.com|karpenter\.sh|k8s\.aws)$"
)
_ROOM_FOR_A_NUMBER: Final = 4


def free_pool_name(text: str, taken: set[str], cloud: Cloud) -> str:
    """Return a valid pool name made from a text, and add it to the used names."""
    plain = cloud.pool_name(text) or "gpus"
    if not plain[0].isalpha():
        plain = cloud.pool_name(f"gpu-{plain}")
    name, number = plain, 2
    while name in taken:
        name = cloud.pool_name(f"{plain[: cloud.longest_pool_name - _ROOM_FOR_A_NUMBER]}-{number}")
        number += 1
    taken.add(name)
    return name


def is_own_label(key: str, value: str, cloud: Cloud) -> bool:
    """Return whether the owner of a pool sets a label of its nodes, and clouds, drivers, and this
    project don't.
    """
    is_of_cloud = any(
        key == each or (each.endswith("/") and key.startswith(each))
        for each in cloud.unknown_labels
    )
    is_of_others = _OF_OTHERS.search(key.rpartition("/")[0]) is not None
    return (
        key != POOL and not is_of_cloud and not is_of_others and not cloud.label_fault(key, value)
    )
