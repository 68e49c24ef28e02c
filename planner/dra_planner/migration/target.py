"""The cluster that pods migrate to, as far as it decides what can take the place of an extended resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`minor` is Kubernetes' minor version. `served` maps extended resources to the DeviceClasses that serve them.

    `shares` is how the driver lets several claims share a GPU: "" for not at all, `memory`, `unlimited`, or a number
    of shares. `keep` names pods that stay on the device plugin: "namespace/name" of their workloads.
    """

    minor: int
    served: Mapping[str, str] = field(default_factory=dict)
    shares: str = ""
    keep: frozenset[str] = frozenset()
