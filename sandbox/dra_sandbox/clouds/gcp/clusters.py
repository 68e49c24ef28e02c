"""Check GKE clusters.

Sources: GoogleCloudPlatform/magic-modules PR 8338, cluster-toolkit PR 3364 and
modules/scheduler/gke-cluster,
terraform-provider-google:website/docs/r/container_cluster.html.markdown@e03b7622.
"""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network

from dra_sandbox.clouds.gcp.node_pools import wrong_name
from dra_sandbox.clouds.wire_values import Values

MOST_EXCLUSIONS = 20
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_FREQUENCIES = ("FREQ=DAILY", "FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=YEARLY")


def of_cluster(inputs: Values) -> str | None:
    """Return the first error for a cluster, or None if GKE accepts it."""
    return next((reason for rule in _RULES if (reason := rule(inputs))), None)


def _name(inputs: Values) -> str | None:
    return wrong_name("cluster", inputs)


def _private_endpoint(inputs: Values) -> str | None:
    if not (inputs.get("privateClusterConfig") or {}).get("enablePrivateEndpoint"):
        return None
    networks = inputs.get("masterAuthorizedNetworksConfig")
    if networks is None:
        return "Master authorized networks must be enabled if private endpoint is enabled."
    if networks.get("gcpPublicCidrsAccessEnabled"):
        return "gcp_public_cidrs_access_enabled cannot be enabled if private endpoint is enabled."
    for block in networks.get("cidrBlocks") or []:
        if not _is_private(block["cidrBlock"]):
            return (
                f'Invalid master authorized networks: network "{block["cidrBlock"]}" is not a '
                "reserved network, which "
                "is required for private endpoints."
            )
    return None


def _is_private(block: str) -> bool:
    network = ip_network(block, strict=False)
    return isinstance(network, IPv4Network) and any(network.subnet_of(each) for each in _PRIVATE)


def _data_plane(inputs: Values) -> str | None:
    has_dataplane_v2 = inputs.get("datapathProvider") == "ADVANCED_DATAPATH"
    if has_dataplane_v2 and (inputs.get("networkPolicy") or {}).get("enabled"):
        return (
            "Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not "
            "allowed."
        )
    if inputs.get("enableMultiNetworking") and not has_dataplane_v2:
        return "multi-networking needs Dataplane V2"
    return None


def _security_group(inputs: Values) -> str | None:
    group = (inputs.get("authenticatorGroupsConfig") or {}).get("securityGroup")
    if group and not group.startswith("gke-security-groups@"):
        return f"{group}: a security group is called gke-security-groups@DOMAIN"
    return None


def _maintenance_window(inputs: Values) -> str | None:
    policy = inputs.get("maintenancePolicy") or {}
    rule = (policy.get("recurringWindow") or {}).get("recurrence", "FREQ=DAILY")
    if not rule.startswith(_FREQUENCIES):  # API: RecurringTimeWindow
        return f"maintenance_policy.recurring_window.recurrence: {rule} is not supported"
    return None


def _maintenance_exclusions(inputs: Values) -> str | None:
    exclusions = (inputs.get("maintenancePolicy") or {}).get("maintenanceExclusions") or []
    if len(exclusions) > MOST_EXCLUSIONS:
        return f"at most {MOST_EXCLUSIONS} maintenance exclusions"
    for each in exclusions:
        options = each.get("exclusionOptions") or {}
        if bool(each.get("endTime")) == bool(options.get("endTimeBehavior")):
            return (
                f"maintenance exclusion {each.get('exclusionName')}: one of end_time and "
                "end_time_behavior"
            )
        if options.get("endTimeBehavior") and options.get("scope", "NO_UPGRADES") == "NO_UPGRADES":
            return (
                f"maintenance exclusion {each.get('exclusionName')}: NO_UPGRADES must have an "
                "end time"
            )
    return None


_RULES = (
    _name,
    _private_endpoint,
    _data_plane,
    _security_group,
    _maintenance_window,
    _maintenance_exclusions,
)
