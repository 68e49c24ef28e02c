"""What a snapshot of a running cluster must hold, and the command that takes one."""

from __future__ import annotations

from typing import Final

SNAPSHOT_KINDS: Final = (
    "nodes", "resourceslices", "deviceclasses", "resourceclaims", "resourceclaimtemplates", "pods", "namespaces",
    "resourcequotas", "limitranges", "priorityclasses", "poddisruptionbudgets", "deployments", "replicasets",
    "statefulsets", "daemonsets", "jobs",
)  # fmt: skip
"""The kinds of a snapshot of a cluster: all that decides what becomes of pods that are applied to it."""
VERIFIED_KINDS: Final = ("nodes", "resourceslices", "deviceclasses", "daemonsets")
"""The kinds that a cluster is compared by with what was planned: all that `verify` reads of it."""
SNAPSHOT_COMMAND: Final = f"kubectl get {','.join(SNAPSHOT_KINDS)} -A -o json"
