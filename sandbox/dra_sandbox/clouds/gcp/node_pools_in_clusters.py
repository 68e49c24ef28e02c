"""What GKE refuses because of what else there is: a node pool beside its cluster, a network with
rules of others.
"""

from __future__ import annotations

import re

from dra_sandbox.clouds.gcp.functions import engine_versions
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

CLUSTER, FIREWALL = "gcp:container/cluster:Cluster", "gcp:compute/firewall:Firewall"
ENDPOINTS = "gcp:compute/networkEndpointGroup:NetworkEndpointGroup"
PLACEMENT = "gcp:compute/resourcePolicy:ResourcePolicy"
# the first release with managed DRANET: cluster-toolkit:modules/compute/gke-node-pool
DRANET = (1, 34, 1, 1829001)


def is_upgraded_with_its_channel(request: CloudRequest) -> str | None:
    """terraform-google-kubernetes-engine issue 682."""
    channel = ((_cluster(request) or {}).get("releaseChannel") or {}).get("channel", "UNSPECIFIED")
    upgraded = ((request.inputs or {}).get("management") or {}).get("autoUpgrade", True)
    if channel == "UNSPECIFIED" or upgraded:
        return None
    return f"Auto_upgrade cannot be false when release_channel {channel} is set."


def is_no_newer_than_its_master(request: CloudRequest) -> str | None:
    """terraform-provider-google issue 6405."""
    node, master = (
        (request.inputs or {}).get("version"),
        (_cluster(request) or {}).get("masterVersion"),
    )
    if not node or not master or _numbers(node)[:2] <= _numbers(master)[:2]:
        return None
    return (
        f'Node version "{node}" must not have a greater minor version than master version '
        f'"{master}".'
    )


def networks_come_with_dataplane_v2(request: CloudRequest) -> str | None:
    """cluster-toolkit:modules/compute/gke-node-pool@10470803."""
    cluster, profile = _cluster(request), ((request.inputs or {}).get("networkConfig") or {})
    if cluster is None or not profile.get("acceleratorNetworkProfile"):
        return None
    if cluster.get("datapathProvider") != "ADVANCED_DATAPATH":
        return "accelerator_network_profile needs Dataplane V2"
    if _numbers(cluster["masterVersion"]) < DRANET:
        return (
            "accelerator_network_profile needs GKE 1.34.1-gke.1829001, the cluster has "
            f"{cluster['masterVersion']}"
        )
    return None


def version_is_offered(inputs: Values) -> str | None:
    """CircleCI-Public/server-terraform: an exact version, or the beginning of one, must be
    there.
    """
    wanted = str(inputs.get("minMasterVersion") or "")
    return None if _is_offered(wanted) else f'Master version "{wanted}" is unsupported.'


def version_of_nodes_is_offered(inputs: Values) -> str | None:
    """The same, of node pools: jetstack/terraform-google-gke-cluster issue 28."""
    wanted = str(inputs.get("version") or "")
    return None if _is_offered(wanted) else f'Node version "{wanted}" is unsupported.'


def _is_offered(wanted: str) -> bool:
    if not wanted or wanted in ("latest", "-"):
        return True
    offered = engine_versions({}, {})["validMasterVersions"]
    return any(each == wanted or each.startswith((f"{wanted}.", f"{wanted}-")) for each in offered)


def is_used_by_nobody(request: CloudRequest) -> str | None:
    """modelplaneai/modelplane PR 230 and murphye/cheap-gke-cluster issue 2: a Service's firewall
    rule and an Ingress' endpoints stay when their cluster goes before them, and keep its network.
    """
    if request.inputs is not None:
        return None
    for kind in (FIREWALL, ENDPOINTS):
        for identifier, left in request.cloud.all(kind).items():
            if (
                str(left.get("network", "")).rpartition("/")[2]
                == request.identifier.rpartition("/")[2]
            ):
                return (
                    f"The network resource '{request.identifier}' is already being used by "
                    f"'{identifier}', "
                    "resourceInUseByAnotherResource"
                )
    return None


def policy_is_there(request: CloudRequest) -> str | None:
    """cluster-toolkit:modules/compute/gke-node-pool@10470803: a policy of one's own is in the
    project and region; a cloud without any knows nothing of them.
    """
    named = ((request.inputs or {}).get("placementPolicy") or {}).get("policyName")
    policies = request.cloud.all(PLACEMENT).values()
    if not named or not policies:
        return None
    region = str((request.inputs or {}).get("location")).split("-")[:2]
    if any(each["name"] == named and str(each["region"]).split("-") == region for each in policies):
        return None
    return f"InvalidArgument: resource policy {named} was not found in region {'-'.join(region)}"


def _cluster(request: CloudRequest) -> Values | None:
    """Return the pool's cluster, which it names or gives the whole id of."""
    named = str((request.inputs or {}).get("cluster") or "").rpartition("/")[2]
    clusters = request.cloud.all(CLUSTER).values()
    return next((each for each in clusters if each["name"] == named), None) if named else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


REFUSALS = (
    is_upgraded_with_its_channel,
    is_no_newer_than_its_master,
    networks_come_with_dataplane_v2,
    policy_is_there,
)
