"""Boot scripts of nodes that join a cluster by themselves → their labels and taints.

Such scripts pass kubelet its flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dra_planner.model import Taint
from dra_policies.stack.pools import taints_of
from dra_policies.unknown_values import Properties

_LABELS: Final = re.compile(r"--node-labels[= ]+[\"']?([^\"'\s\]]+)")
_TAINTS: Final = re.compile(r"--register-with-taints[= ]+[\"']?([^\"'\s\]]+)")
# Settings of kubelet that replace the flags, and values that the script computes.
_ELSEWHERE: Final = (
    "registerWithTaints",
    "$(",
    "${",
    "--node-labels=$",
    "--register-with-taints=$",
)


def labels_of_script(script: str | None, joins: Sequence[str]) -> dict[str, str | None] | None:
    """Return the labels of nodes, or None if they aren't known. `joins` are words of scripts that
    join a cluster.
    """
    if not script or not any(each in script for each in joins):
        return None
    if any(each in script for each in _ELSEWHERE):
        return None
    pairs = [each.partition("=") for found in _LABELS.findall(script) for each in found.split(",")]
    return {key: value for key, _, value in pairs if key}


def taints_of_script(script: str | None, joins: Sequence[str]) -> tuple[Taint, ...] | None:
    """Return the taints of nodes, or None if they aren't known."""
    if labels_of_script(script, joins) is None:
        return None
    listed = [each for found in _TAINTS.findall(script or "") for each in found.split(",")]
    return taints_of(Properties({"taints": listed}), "taints")
