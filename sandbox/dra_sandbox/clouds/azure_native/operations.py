"""Conditions that block a change of a cluster or pool: other operations, pods that can't be
evicted, and pools with other versions.
"""

from __future__ import annotations

from dra_sandbox.clouds.azure_native.existing_pools import POOL, changes, count
from dra_sandbox.clouds.azure_native.functions import newest
from dra_sandbox.clouds.type_rows import CloudRequest

OPERATION = "dra-sandbox:azure:Operation"
"""An operation that another client started, by the ID of the cluster or pool: {"doing":
"Scaling"}.
"""
STAYING_POD = "dra-sandbox:azure:StayingPod"
"""Pods that a PodDisruptionBudget keeps on their node, by name: {"agentPool": ID of the pool,
"budget": "team/train", "maxUnavailable": 0 if the budget sets it}.
"""
NODES = "dra-sandbox:azure:NodesInside"
"""Versions of the nodes inside a cluster, by the IDs of their pools."""
MOST_MINORS_BEHIND = 3
USUAL_MINUTES = 120


def may_begin(request: CloudRequest) -> str | None:
    """Reject a change while another operation is in progress.

    An operation on a cluster blocks the cluster and its pools, and an operation on a pool blocks
    the pool and its cluster. Source:
    MicrosoftDocs/SupportArticles-docs:…/create-upgrade-delete/operationnotallowed.md@7407391.
    """
    own = request.identifier.lower()
    for identifier, running in request.cloud.all(OPERATION).items():
        other, doing = identifier.lower(), running["doing"]
        if not (own == other or own.startswith(f"{other}/") or other.startswith(f"{own}/")):
            continue
        kind = "agentpool" if "/agentpools/" in other else "managed cluster"
        if doing == "Deleting":
            name = identifier.rpartition("/")[2]
            wanted = "Deleting" if request.inputs is None else "Scaling"
            return (
                f"OperationNotAllowed: Unable to perform '{wanted}' operation on '{name}' since "
                "deletion was issued on "
                f"'{name}'. Please wait for the deletion to complete."
            )
        return (
            f"OperationNotAllowed: Operation is not allowed: Another {kind} operation ({doing}) is "
            "in progress, please "
            "wait for it to finish before starting a new operation. See "
            "https://aka.ms/aks-pending-operation for more "
            "details"
        )
    return None


def pods_leave(request: CloudRequest) -> str | None:
    """Reject an upgrade if a PodDisruptionBudget blocks the eviction of pods.

    Sources: MicrosoftDocs/SupportArticles-docs:…/error-codes/unsatisfiablepdb-error.md@0306952 (a
    budget that never allows an eviction, which is checked first); cloudnative-pg/cloudnative-pg
    issue 7346 (a budget that doesn't allow an eviction now).
    """
    upgraded = {change.identifier.lower() for change in changes(request) if change.is_upgraded}
    for name, pod in sorted(request.cloud.all(STAYING_POD).items()):
        if pod["agentPool"].lower() not in upgraded:
            continue
        if pod.get("maxUnavailable") == 0:
            return (
                f"UnsatisfiablePDB: PDB {pod['budget']} has maxunavailble == 0 can't proceed "
                "with put operation"
            )
        return (
            f"UpgradeFailed: Drain node failed when evicting pod {name} failed with Too Many "
            "Requests error. This is "
            "often caused by a restrictive Pod Disruption Budget (PDB) policy. See "
            "http://aka.ms/aks/debugdrainfailures. Original error: Cannot evict pod as it would "
            "violate the pod's "
            f"disruption budget.. PDB debug info: {name} blocked by pdb {pod['budget']}"
        )
    return None


def is_waited_for(request: CloudRequest) -> str | None:
    """Fail if the provider's timeout ends before the upgrade, by default after two hours. The
    upgrade itself continues. Source: pulumi/pulumi-azure-nextgen issue 252.
    """
    for change in changes(request):
        settings = change.wanted.get("upgradeSettings") or {}
        away = int(str(settings.get("maxUnavailable") or "0").rstrip("%"))
        if change.is_upgraded and not request.waits_for(
            count(change.wanted), change.surge + away, USUAL_MINUTES
        ):
            return "Future#WaitForCompletion: context has been cancelled: context deadline exceeded"
    return None


def no_pool_is_left_behind(request: CloudRequest) -> str | None:
    """Reject a cluster version that is more than three minor versions newer than a pool.

    Sources: MicrosoftDocs/SupportArticles-docs:…/nodepoolmcversionincompatible-error.md@051c368;
    learn.microsoft.com/azure/aks/supported-kubernetes-versions (three minor versions).
    """
    if (
        request.inputs is None
        or request.before is None
        or not request.inputs.get("kubernetesVersion")
    ):
        return None
    then = newest(str(request.inputs["kubernetesVersion"]))
    for own in _versions(request):
        if _minor(then) - _minor(own) > MOST_MINORS_BEHIND:
            return (
                f"NodePoolMcVersionIncompatible: Node pool version {own} and control plane version "
                f"{then} are "
                "incompatible."
            )
    return None


def versions_are_all_set_or_none(request: CloudRequest) -> str | None:
    """Reject a new version of the pools inside a cluster while its other pools have another
    version. Sources: Azure/ARO-HCP pull request 662, Azure/AKS issue 4765.
    """
    if request.inputs is None or request.before is None:
        return None
    now, then = (
        [pool.get("orchestratorVersion") for pool in side.get("agentPoolProfiles") or []]
        for side in (request.inputs, request.before)
    )
    if not any(now) or now == then:
        return None
    wanted = newest(str(request.inputs.get("kubernetesVersion") or ""))
    versions = {newest(str(version or "")) for version in now}
    if all(now) and versions == {wanted} and set(_versions(request, POOL)) <= {wanted}:
        return None
    return (
        "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged: Using managed cluster api, all "
        "Agent pools' "
        "OrchestratorVersion must be all specified or all unspecified. If all specified, they must "
        "be stay unchanged "
        "or the same with control plane. For agent pool specific change, please use per agent pool "
        "operations: "
        "https://aka.ms/agent-pool-rest-api"
    )


def has_the_same_pools_inside(request: CloudRequest) -> str | None:
    """Reject new pools in the list of an existing cluster, because they need their own calls.
    Source: pulumi/pulumi-azure-native issue 2719.
    """
    if request.inputs is None or request.before is None:
        return None
    now, then = (
        {pool["name"] for pool in side.get("agentPoolProfiles") or []}
        for side in (request.inputs, request.before)
    )
    if now <= then:
        return None
    return (
        "BadRequest: A new agent pool was introduced. Adding agent pools to an existing cluster is "
        "not allowed through "
        "managed cluster operations. For agent pool specific change, please use per agent pool "
        "operations: "
        "https://aka.ms/agent-pool-rest-api"
    )


def pools_left_out_stay(request: CloudRequest) -> None:
    """Keep pools that are removed from the list of a cluster, because they stay in Azure.

    Source: pulumi/pulumi-azure-native issue 1686.
    """
    if request.inputs is None or request.before is None:
        return
    now = {pool["name"] for pool in request.inputs.get("agentPoolProfiles") or []}
    for pool in request.before.get("agentPoolProfiles") or []:
        if pool["name"] not in now:
            identifier = f"{request.identifier}/agentPools/{pool['name']}"
            version = request.cloud.get(NODES, identifier) or {}
            request.cloud.put(POOL, identifier, {**pool, **version, "agentPoolName": pool["name"]})
            request.cloud.drop(NODES, identifier)


def pools_inside_stay_as_they_are(request: CloudRequest) -> None:
    """Store the versions of the nodes inside a cluster, because an upgrade that doesn't name them
    doesn't change them. Sources: pulumi/pulumi-azure-native issue 2094, Azure/AKS issue 3087.
    """
    before = (request.before or {}).get("agentPoolProfiles") or []
    for pool in before if request.inputs is None else []:
        request.cloud.drop(NODES, f"{request.identifier}/agentPools/{pool['name']}")
    for pool in (request.inputs or {}).get("agentPoolProfiles") or []:
        identifier = f"{request.identifier}/agentPools/{pool['name']}"
        version = pool.get("orchestratorVersion")
        if version or request.cloud.get(NODES, identifier) is None:
            wanted = str(version or (request.inputs or {}).get("kubernetesVersion") or "")
            request.cloud.put(NODES, identifier, {"currentOrchestratorVersion": newest(wanted)})


def _versions(request: CloudRequest, *kinds: str) -> list[str]:
    """Return the versions of a cluster's pools: the separate pools, and the pools inside it."""
    own = f"{request.identifier.lower()}/"
    return [
        str(pool["currentOrchestratorVersion"])
        for kind in kinds or (POOL, NODES)
        for identifier, pool in request.cloud.all(kind).items()
        if identifier.lower().startswith(own)
    ]


def _minor(version: str) -> int:
    return int(version.split(".")[1])


OF_CLUSTERS = (
    may_begin,
    has_the_same_pools_inside,
    pods_leave,
    no_pool_is_left_behind,
    versions_are_all_set_or_none,
)
OF_POOLS = (may_begin, pods_leave, is_waited_for)
