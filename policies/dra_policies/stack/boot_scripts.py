"""Read labels and taints from the boot scripts of nodes that join a cluster without a managed pool.

These scripts contain the kubelet's flags.
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
_COMMENT: Final = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
# Kubelet settings that replace the flags, and values that the script computes.
_ELSEWHERE: Final = re.compile(
    r"registerWithTaints|\$[({]|--(?:node-labels|register-with-taints|kubelet-extra-args)[^\n]*\$"
)


def labels_of_script(script: str | None, joins: Sequence[str]) -> dict[str, str | None] | None:
    """Return the labels of nodes, or None if they are unknown. `joins` contains the words that
    identify a script that joins a cluster.
    """
    lines = _COMMENT.sub("", script or "")
    if not any(each in lines for each in joins) or _ELSEWHERE.search(lines):
        return None
    pairs = [each.partition("=") for found in _LABELS.findall(lines) for each in found.split(",")]
    return {key: value for key, _, value in pairs if key}


def taints_of_script(script: str | None, joins: Sequence[str]) -> tuple[Taint, ...] | None:
    """Return the taints of nodes, or None if they aren't known."""
    if labels_of_script(script, joins) is None:
        return None
    lines = _COMMENT.sub("", script or "")
    listed = [each for found in _TAINTS.findall(lines) for each in found.split(",")]
    return taints_of(Properties({"taints": listed}), "taints")
