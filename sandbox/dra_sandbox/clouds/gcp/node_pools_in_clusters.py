"""Check GKE resources against each other: a node pool against its cluster, and a network against
firewall rules of other owners.
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
    """Reject a pool without automatic upgrades in a cluster with a release channel.

    Source: terraform-google-kubernetes-engine issue 682.
    """
    channel = ((_cluster(request) or {}).get("releaseChannel") or {}).get("channel", "UNSPECIFIED")
    upgraded = ((request.inputs or {}).get("management") or {}).get("autoUpgrade", True)
    if channel == "UNSPECIFIED" or upgraded:
        return None
    return f"Auto_upgrade cannot be false when release_channel {channel} is set."


def is_no_newer_than_its_master(request: CloudRequest) -> str | None:
    """Reject nodes with a newer minor version than the control plane.

    Source: terraform-provider-google issue 6405.
    """
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
    """Reject DRANET without Dataplane V2 or on an older GKE version.

    Source: cluster-toolkit:modules/compute/gke-node-pool@10470803.
    """
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
    """Require that GKE offers the exact version, or a version with this prefix.

    Source: CircleCI-Public/server-terraform.
    """
    wanted = str(inputs.get("minMasterVersion") or "")
    return None if _is_offered(wanted) else f'Master version "{wanted}" is unsupported.'


def version_of_nodes_is_offered(inputs: Values) -> str | None:
    """Require that GKE offers the version of a node pool.

    Source: jetstack/terraform-google-gke-cluster issue 28.
    """
    wanted = str(inputs.get("version") or "")
    return None if _is_offered(wanted) else f'Node version "{wanted}" is unsupported.'


def _is_offered(wanted: str) -> bool:
    if not wanted or wanted in ("latest", "-"):
        return True
    offered = engine_versions({}, {})["validMasterVersions"]
    return any(each == wanted or each.startswith((f"{wanted}.", f"{wanted}-")) for each in offered)


def is_used_by_nobody(request: CloudRequest) -> str | None:
    """Reject the deletion of a network that is in use.

    If a cluster is deleted before its Services and Ingresses, their firewall rules and endpoint
    groups remain. Sources: modelplaneai/modelplane PR 230 and murphye/cheap-gke-cluster issue 2.
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
    """Require that a custom placement policy exists in the project and region.

    If the simulation contains no policy, every name is accepted. Source:
    cluster-toolkit:modules/compute/gke-node-pool@10470803.
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
    """Return the pool's cluster, from its name or its full ID."""
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
