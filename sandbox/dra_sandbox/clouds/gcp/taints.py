"""Node taints: the taints in a pool's inputs, and the taints that GKE adds."""

from __future__ import annotations

from dra_planner import catalog
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.type_rows import Facts
from dra_sandbox.clouds.wire_values import Value, Values

POOL = "gcp:container/nodePool:NodePool"
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
ARM = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NO_SCHEDULE"}
QUEUED = {"key": "cloud.google.com/gke-queued", "value": "true", "effect": "NO_SCHEDULE"}
USUAL = {"machineType": "e2-medium", "diskSizeGb": 100, "imageType": "COS_CONTAINERD"}


def node_config(facts: Facts) -> Value:
    """Return the node settings that GKE adds to the inputs.

    Whether GPU nodes get a taint is decided when the pool is created. Sources:
    terraform-google-kubernetes-engine issue 703 (GPUs, together with a pool without GPUs),
    tigera/operator issue 3554 (Arm), cluster-toolkit:modules/compute/gke-node-pool@10470803 (queued
    provisioning).
    """
    config = facts.inputs.get("nodeConfig") or {}
    added = []
    before = (facts.old.get("nodeConfig") or {}).get("effectiveTaints")
    if (
        GPU in before
        if before is not None
        else _has_gpus(facts.inputs) and _is_beside_others(facts)
    ):
        added.append(GPU)
    behavior = (config.get("taintConfig") or {}).get("architectureTaintBehavior")
    if behavior != "NONE" and _arch(config) == "arm64":
        added.append(ARM)
    if (facts.inputs.get("queuedProvisioning") or {}).get("enabled"):
        added.append(QUEUED)
    own = [dict(taint) for taint in config.get("taints") or []]
    # If the field is omitted but other kubelet settings exist, the provider has sent true since 7.0
    # (and false before:
    # hashicorp/terraform-provider-google:google/services/container/node_config.go@v7.45.0).
    kubelet = {"kubeletConfig": {"cpuCfsQuota": True}} if config.get("kubeletConfig") else {}
    return {
        **USUAL,
        **kubelet,
        "effectiveTaints": [*own, *(taint for taint in added if taint not in own)],
    }


def _is_beside_others(facts: Facts) -> bool:
    cluster = facts.text("{id}").rpartition("/nodePools/")[0]
    pools = facts.cloud.all(POOL).items()
    return any(
        name.startswith(f"{cluster}/nodePools/") and not _has_gpus(pool) for name, pool in pools
    )


def _has_gpus(pool: Values) -> bool:
    config = pool.get("nodeConfig") or {}
    found = _machine(config)
    return bool(config.get("guestAccelerators")) or bool(found and found.gpu_count)


def _arch(config: Values) -> str:
    found = _machine(config)
    return found.arch if found else "amd64"


def _machine(config: Values) -> catalog.Machine | None:
    try:
        return catalog.machine("gke", str(config.get("machineType") or USUAL["machineType"]))
    except CatalogError:
        return None
