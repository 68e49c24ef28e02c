"""Claims that replace resources of NVIDIA's device plugin: whole GPUs, shares of GPUs, and MIG
devices.

Sources: NVIDIA/k8s-device-plugin:internal/rm/device_map.go@1b826ac (names),
kubernetes-sigs/dra-driver-nvidia-gpu:demo/specs/consumable-shares/README.md@9593204 (shares).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dra_planner.drivers.nvidia.device_plugin.facts import sharing_of
from dra_planner.drivers.nvidia.device_plugin.labels import (
    profile_condition,
    without_implied_product,
)
from dra_planner.drivers.protocol.device_plugin import (
    ClaimSupport,
    Counterpart,
    DeviceSharing,
    NoCounterpart,
    PluginFacts,
    SelectionNeeds,
)

GPU: Final = "nvidia.com/gpu"
TOLERATION: Final = "nvidia.com/gpu"
_TIME_SLICING: Final = (
    "Share one ResourceClaim among the pods in a namespace, with the GpuConfig sharing "
    "strategy TimeSlicing (feature gate TimeSlicingSettings). All pods that share a claim run on "
    "one node"
)
_WORD: Final = re.compile(r"\w+")
_MIG: Final = re.compile(r"nvidia\.com/mig-(?P<profile>[\w.]+)")
_GPUS: Final = re.compile(r"nvidia\.com/(?:.*gpu.*|mig-.+)")
_FRACTIONS: Final = frozenset(
    {"nvidia.com/gpumem", "nvidia.com/gpucores", "nvidia.com/gpumem-percentage"}
)
_PARTITION: Final = "cloud.google.com/gke-gpu-partition-size"
_KEEP: Final = "Keep the pods in a pool with `allocation: device-plugin`"
_MPS: Final = (
    "Set `drivers.nvidia.featureGates.ConsumableShares=true` and "
    "`drivers.nvidia.consumableShares=memory` in the fleet, and request a share of the memory in each "
    "claim. The scheduler counts memory, but nothing enforces the limit",
    "Share one ResourceClaim among the pods in a namespace, with the GpuConfig sharing "
    "strategy MPS (feature gate MPSSupport). All pods that share a claim run on one node",
    "If a profile has the right size, use MIG devices, which the hardware isolates",
    _KEEP,
)


def counts_gpus(resource: str) -> bool:
    """Return whether a resource counts GPUs or parts of them.

    NVIDIA's network operator uses the same domain for network functions, with any names. Source:
    Mellanox/network-operator:example (nvidia.com/rdma-vf, nvidia.com/hostdev).
    """
    return _GPUS.fullmatch(resource) is not None


def nvidia_counterpart(
    resource: str,
    count: int,
    needs: SelectionNeeds,
    labels: Mapping[str, str],
    facts: PluginFacts,
    support: ClaimSupport,
) -> Counterpart | NoCounterpart:
    """Return the claim's request that replaces `count` units of a resource on nodes with these
    labels and needs.
    """
    if resource in _FRACTIONS:
        return NoCounterpart(f"{resource} is a GPU fraction that HAMi's scheduler counts", (_KEEP,))
    mig = _MIG.fullmatch(resource)
    if mig is not None:
        return _mig(mig["profile"].replace(".me", "+me"), needs, support)
    if resource not in (GPU, f"{GPU}.shared"):
        return NoCounterpart(
            f"the NVIDIA driver doesn't have a DeviceClass for {resource}", (_KEEP,)
        )
    sharing = _sharing(resource, needs, labels, facts)
    if sharing is not None:
        return _share(resource, count, sharing, needs, support)
    profile = needs.profile or facts.partition
    if profile:
        needs = without_implied_product(needs) if _PARTITION in labels else needs
        return _mig(profile, needs, support)
    if support.shares.isdigit():
        # Without a capacity request, a claim would get one share of each GPU.
        return _gpu(needs, {"shares": support.shares})
    return _gpu(needs, {})


def _gpu(needs: SelectionNeeds, capacity: Mapping[str, str]) -> Counterpart:
    return Counterpart(
        device_class="gpu.nvidia.com",
        conditions=needs.conditions,
        capacity=capacity,
        toleration=TOLERATION,
    )


def _mig(profile: str, needs: SelectionNeeds, support: ClaimSupport) -> Counterpart | NoCounterpart:
    if support.no_partitions:
        return NoCounterpart(support.no_partitions, (_KEEP,))
    conditions = (profile_condition(profile), *needs.conditions)
    return Counterpart(
        device_class="mig.nvidia.com", conditions=conditions, noun="mig", toleration=TOLERATION
    )


def _sharing(
    resource: str, needs: SelectionNeeds, labels: Mapping[str, str], facts: PluginFacts
) -> DeviceSharing | None:
    if needs.sharing:
        known = sharing_of(facts, resource, labels)
        return DeviceSharing(
            needs.sharing, needs.clients or (known.replicas if known else 0), "node labels"
        )
    found = sharing_of(facts, resource, labels)
    if found is None and resource.endswith(".shared"):
        return DeviceSharing("time-slicing", 0)
    return found


def _share(
    resource: str,
    count: int,
    sharing: DeviceSharing,
    needs: SelectionNeeds,
    support: ClaimSupport,
) -> Counterpart | NoCounterpart:
    """Return a request for one share of a GPU. Claims can share a GPU only if the driver offers
    shares.
    """
    if sharing.strategy == "mps":
        reason = (
            "no version of the NVIDIA DRA driver can share a GPU between separate claims with MPS"
        )
        return NoCounterpart(reason, tuple(_supported(_MPS, support)))
    if count > 1:
        reason = (
            f"{count} units of the time-sliced {resource} don't guarantee {count} GPUs or a "
            "larger GPU share"
        )
        return NoCounterpart(reason, ("Request one unit if one GPU is enough", _KEEP))
    if not support.shares.isdigit():
        number = sharing.replicas or "several"
        reason = (
            f"{resource} is one of {number} time-sliced replicas of a GPU, but each claim "
            "gets a whole GPU in the target cluster"
        )
        ways = (_equal_shares(sharing.replicas), _TIME_SLICING, _KEEP)
        return NoCounterpart(reason, tuple(_supported(ways, support)))
    return _gpu(needs, {"shares": "1"})


def _supported(ways: Iterable[str], support: ClaimSupport) -> Iterator[str]:
    """Yield the alternatives that the cloud of the target cluster supports."""
    refused = set(support.unsupported_gates)
    if support.no_partitions:
        refused.add("MIG")
    yield from (way for way in ways if not refused.intersection(_WORD.findall(way)))


def _equal_shares(replicas: int) -> str:
    """Return the settings with which as many claims share a GPU as the plugin has replicas.

    If the number is unknown, the text explains how to choose it.
    """
    number = "" if replicas else ", with the number of replicas instead of N"
    return (
        "Set `drivers.nvidia.featureGates.ConsumableShares=true` and "
        f"`drivers.nvidia.consumableShares={replicas or 'N'}` in the fleet{number} (driver 0.5.0 "
        "and Kubernetes 1.36 or later)"
    )


def nvidia_class(resource: str, facts: PluginFacts) -> str:
    """Return the DeviceClass that replaces a resource in quotas, or "" if there is none."""
    if _MIG.fullmatch(resource) or (resource == GPU and facts.partition):
        return "mig.nvidia.com"
    return "gpu.nvidia.com" if resource in (GPU, f"{GPU}.shared") else ""
