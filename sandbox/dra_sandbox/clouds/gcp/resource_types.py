"""The Google Cloud resource types with special behavior.

The table `provider_rules` contains the effect of changing or omitting each property of these types,
from hashicorp/terraform-provider-google@v7.45.0, on which the real provider is built. For types
that aren't in that file, the rows here contain the paths that replace the resource, according to
the services' APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_sandbox.clouds.gcp import (
    clusters,
    control_plane_versions,
    default_pool,
    keys,
    lost_zones,
    maintenance,
    node_pools,
    node_pools_in_clusters,
    node_updates,
    operations,
    quotas,
    reservations,
    taints,
)
from dra_sandbox.clouds.gcp.functions import newest
from dra_sandbox.clouds.property_checks import check_allowed
from dra_sandbox.clouds.type_rows import Facts, TypeRow
from dra_sandbox.clouds.wire_values import Value, Values

# Enums of the container/v1 API (google-cloud-container 2.67.0). The provider doesn't check them.
MONITORED = (
    "SYSTEM_COMPONENTS",
    "APISERVER",
    "SCHEDULER",
    "CONTROLLER_MANAGER",
    "STORAGE",
    "HPA",
    "POD",
    "DAEMONSET",
    "DEPLOYMENT",
    "STATEFULSET",
    "CADVISOR",
    "KUBELET",
    "DCGM",
    "JOBSET",
)  # in the order of their numbers in the API


_API_VALUES: Mapping[str, frozenset[str]] = {
    "monitoringConfig.enableComponents[*]": frozenset(MONITORED),
    "placementPolicy.type": frozenset({"TYPE_UNSPECIFIED", "COMPACT"}),
    "nodeConfig.guestAccelerators[*].gpuSharingConfig.gpuSharingStrategy": frozenset(
        {"GPU_SHARING_STRATEGY_UNSPECIFIED", "TIME_SHARING", "MPS"}
    ),
}


def _has_api_values(inputs: Values) -> str | None:
    return next((each.reason for each in check_allowed(_API_VALUES, inputs)), None)


def _with_components_in_order(inputs: Values) -> Values:
    """Return the inputs with the monitored components in the order that GKE uses.

    GKE has its own order (cluster-toolkit issue 6331: STORAGE and HPA before POD, DCGM before
    JOBSET), but the provider compares the components as a list (terraform-provider-google issue
    28688).
    """
    config = inputs.get("monitoringConfig") or {}
    given = config.get("enableComponents") or []
    if not given or not set(given) <= set(MONITORED):
        return inputs
    return {
        **inputs,
        "monitoringConfig": {**config, "enableComponents": sorted(given, key=MONITORED.index)},
    }


def _has_its_node_version(old: Values, new: Values) -> Values:
    """Return the version of a cluster without inline pools, and reject any other version.

    Source:
    hashicorp/terraform-provider-google:google/services/container/resource_container_cluster.go@v7.45.0,
    containerClusterNodeVersionRemoveDefaultCustomizeDiff.
    """
    given = new.get("nodeVersion")
    if (
        given
        and not old.get("nodeVersion")
        and str(given).startswith(f"{old.get('minMasterVersion')}.")
    ):
        return {**old, "nodeVersion": given}
    return old


def _labels(facts: Facts) -> Value:
    return facts.inputs.get("resourceLabels") or facts.inputs.get("labels") or {}


def _initial_nodes(facts: Facts) -> Value:
    return facts.inputs.get("initialNodeCount", facts.inputs.get("nodeCount", 0))


def _zones(facts: Facts) -> Value:
    """Return the zones of a location: the zone itself, or the first zones of a region."""
    location = facts.text("{location}")
    return [location] if location.count("-") > 1 else [f"{location}-a"]


def _groups(collection: str) -> Callable[[Facts], Value]:
    """Return one instance group per zone, with names in the format of `collection`."""
    place = "https://www.googleapis.com/compute/v1/projects/{project}/zones"
    return lambda facts: [
        facts.text(f"{place}/{zone}/{collection}/gke-{{hex8}}-grp") for zone in _zones(facts)
    ]


def _autoscaling_in_one_way(inputs: Values) -> str | None:
    scaling = inputs.get("autoscaling") or {}
    per_zone = scaling.keys() & {"minNodeCount", "maxNodeCount"}
    total = scaling.keys() & {"totalMinNodeCount", "totalMaxNodeCount"}
    if per_zone and total:
        return "autoscaling takes limits per zone or in total, not both"
    low, high = scaling.get("totalMinNodeCount", 0), scaling.get("totalMaxNodeCount", 0)
    if total and low > high:
        return f"autoscaling: totalMinNodeCount ({low}) is greater than totalMaxNodeCount ({high})"
    if scaling and inputs.get("nodeCount") is not None:
        return "nodeCount cannot be used together with autoscaling"
    return None


def _has_a_first_pool(inputs: Values) -> str | None:
    if inputs.get("enableAutopilot") or inputs.get("nodePools"):
        return None
    if not inputs.get("initialNodeCount"):
        return "Cluster.initial_node_count must be greater than zero"
    return None


COMMON = TypeRow(
    outputs={
        "selfLink": "https://www.googleapis.com/compute/v1/{id}",
        "creationTimestamp": "2026-01-01T00:00:00.000-07:00",
        "etag": "{hex8}",
        "fingerprint": "{hex8}=",
        "labelFingerprint": "{hex8}=",
    },
    known={
        "project": "{project}",
        "region": "{region}",
        "deletionPolicy": "DELETE",
        "effectiveLabels": _labels,
        "pulumiLabels": _labels,
    },
)

ROWS: Mapping[str, TypeRow] = {
    "gcp:container/cluster:Cluster": TypeRow(
        id="projects/{project}/locations/{location}/clusters/{name}",
        outputs={
            "selfLink": "https://container.googleapis.com/v1/{id}",
            "location": "{location}",
            "endpoint": "203.0.113.{octet}",
            "nodeVersion": newest(""),
            "masterAuth": {
                "clusterCaCertificate": "{certificate}",
                "clientCertificate": "",
                "clientKey": "",
                "clientCertificateConfig": {"issueClientCertificate": False},
            },
            "privateClusterConfig": {
                "privateEndpoint": "10.0.0.2",
                "publicEndpoint": "203.0.113.{octet}",
                "masterIpv4CidrBlock": "",
            },
            "controlPlaneEndpointsConfig": {
                "dnsEndpointConfig": {"endpoint": "gke-{hex32}.{location}.gke.goog"},
            },
            "loggingService": "logging.googleapis.com/kubernetes",
            "monitoringService": "monitoring.googleapis.com/kubernetes",
            "clusterIpv4Cidr": "10.4.0.0/14",
            "defaultMaxPodsPerNode": 110,
            "servicesIpv4Cidr": "10.8.0.0/20",
            "nodeLocations": _zones,
            "nodePools": [],
            "operation": "",
            "tpuIpv4CidrBlock": "",
            "emulatedVersion": "",
            "subnetwork": "default",
        },
        every_time={"masterVersion": control_plane_versions.version_of_master},
        defaults={"deletionProtection": True, "network": "default"},
        name_limit=40,
        protected_by="deletionProtection",
        api_checks=(
            _has_a_first_pool,
            _has_api_values,
            clusters.of_cluster,
            maintenance.leaves_time,
            node_pools_in_clusters.version_is_offered,
        ),
        returned=_with_components_in_order,
        unchanged=_has_its_node_version,
        refusals=(
            operations.may_begin,
            *control_plane_versions.REFUSALS,
            keys.has_keys_where_it_must,
            keys.agents_may_use_keys,
            quotas.first_pool_has_room,
        ),
        effects=(default_pool.comes_and_goes,),
        remembered=True,
    ),
    "gcp:container/nodePool:NodePool": TypeRow(
        id="projects/{project}/locations/{location}/clusters/{clusterName}/nodePools/{name}",
        outputs={
            "location": "{location}",
            "initialNodeCount": _initial_nodes,
            "nodeCount": _initial_nodes,
            "nodeLocations": _zones,
            "version": newest(""),
            "maxPodsPerNode": 110,
            "namePrefix": "",
            "instanceGroupUrls": _groups("instanceGroupManagers"),
            "managedInstanceGroupUrls": _groups("instanceGroups"),
            "management": {"autoRepair": True, "autoUpgrade": True},
            "upgradeSettings": {"maxSurge": 1, "maxUnavailable": 0, "strategy": "SURGE"},
            "nodeConfig": taints.USUAL,
            "operation": "",
        },
        every_time={"nodeConfig": taints.node_config},
        name_limit=40,
        api_checks=(
            _autoscaling_in_one_way,
            _has_api_values,
            node_pools.of_pool,
            node_pools_in_clusters.version_of_nodes_is_offered,
        ),
        refusals=(
            operations.may_begin,
            *node_pools_in_clusters.REFUSALS,
            keys.has_keys_where_it_must,
            keys.agents_may_use_keys,
            reservations.is_there_and_large_enough,
            lost_zones.has_machines,
            quotas.gpus_have_room,
            node_updates.is_waited_for,
        ),
        reported=node_pools.reported,
        remembered=True,
    ),
    "gcp:compute/network:Network": TypeRow(
        id="projects/{project}/global/networks/{name}",
        outputs={
            "gatewayIpv4": "",
            "numericId": "{digits}",
            "networkId": "{digits}",
            "routingMode": "REGIONAL",
            "mtu": 1460,
            "internalIpv6Range": "",
        },
        defaults={"autoCreateSubnetworks": True, "deleteDefaultRoutesOnCreate": False},
        refusals=(node_pools_in_clusters.is_used_by_nobody,),
        remembered=True,
        name_limit=63,
    ),
    "gcp:compute/subnetwork:Subnetwork": TypeRow(
        id="projects/{project}/regions/{region}/subnetworks/{name}",
        outputs={
            "gatewayAddress": "10.0.0.1",
            "subnetworkId": 1,
            "purpose": "PRIVATE",
            "stackType": "IPV4_ONLY",
            "privateIpGoogleAccess": False,
            "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
            "externalIpv6Prefix": "",
            "internalIpv6Prefix": "",
            "ipv6CidrRange": "",
            "ipv6GceEndpoint": "",
            "state": "READY",
        },
        name_limit=63,
    ),
    "gcp:compute/router:Router": TypeRow(
        id="projects/{project}/regions/{region}/routers/{name}",
        name_limit=63,
    ),
    "gcp:compute/routerNat:RouterNat": TypeRow(
        id="{project}/{region}/{router}/{name}",
        outputs={
            "autoNetworkTier": "PREMIUM",
            "endpointTypes": ["ENDPOINT_TYPE_VM"],
            "enableEndpointIndependentMapping": False,
            "minPortsPerVm": 64,
        },
        name_limit=63,
    ),
    "gcp:compute/firewall:Firewall": TypeRow(
        id="projects/{project}/global/firewalls/{name}",
        outputs={"direction": "INGRESS", "destinationRanges": [], "enableLogging": False},
        replace=("direction", "network", "project"),
        remembered=True,
        name_limit=63,
        allowed={"direction": frozenset({"INGRESS", "EGRESS"})},
    ),
    "gcp:compute/reservation:Reservation": TypeRow(
        id="projects/{project}/zones/{zone}/reservations/{name}",
        replace=("description", "project", "zone", "specificReservationRequired"),
        name_limit=63,
        remembered=True,
    ),
    "gcp:compute/resourcePolicy:ResourcePolicy": TypeRow(
        id="projects/{project}/regions/{region}/resourcePolicies/{name}",
        replace=("description", "groupPlacementPolicy", "project", "region", "workloadPolicy"),
        name_limit=63,
        remembered=True,
    ),
    "gcp:serviceaccount/account:Account": TypeRow(
        id="projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com",
        outputs={
            "email": "{accountId}@{project}.iam.gserviceaccount.com",
            "member": "serviceAccount:{accountId}@{project}.iam.gserviceaccount.com",
            "name": "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com",
            "uniqueId": "{digits}",
        },
        name="accountId",
        name_limit=30,
    ),
    "gcp:projects/iAMMember:IAMMember": TypeRow(
        id="{project}/{role}/{member}",
        replace=("condition", "member", "project", "role"),
        remembered=True,
    ),
    "gcp:projects/service:Service": TypeRow(
        id="{project}/{service}", replace=("project", "service")
    ),
    "gcp:serviceaccount/iAMMember:IAMMember": TypeRow(
        id="{serviceAccountId}/{role}/{member}",
        replace=("condition", "member", "role", "serviceAccountId"),
    ),
    "gcp:kms/keyRing:KeyRing": TypeRow(
        id="projects/{project}/locations/{location}/keyRings/{name}",
        replace=("location", "project"),
    ),
    "gcp:kms/cryptoKey:CryptoKey": TypeRow(
        id="{keyRing}/cryptoKeys/{name}",
        outputs={"primaries": [{"name": "{id}/cryptoKeyVersions/1", "state": "ENABLED"}]},
        replace=(
            "destroyScheduledDuration",
            "importOnly",
            "keyRing",
            "purpose",
            "skipInitialVersionCreation",
        ),
    ),
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": TypeRow(
        id="{cryptoKeyId}/{role}/{member}",
        replace=("condition", "cryptoKeyId", "member", "role"),
        remembered=True,
    ),
    "gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding": TypeRow(
        id="{cryptoKeyId}/{role}", replace=("condition", "cryptoKeyId", "role"), remembered=True
    ),
}
