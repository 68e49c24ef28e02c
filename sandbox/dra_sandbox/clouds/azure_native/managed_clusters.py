"""Check AKS clusters, with the error messages that users of the real AKS report."""

from __future__ import annotations

import ipaddress
import re

from dra_planner.releases import MAXIMUM_MINOR
from dra_sandbox.clouds.azure_native.functions import is_offered, newest
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

SUBNET, ROLE = "azure-native:network:Subnet", "azure-native:authorization:RoleAssignment"
SERVICE_CIDR = "10.0.0.0/16"
MOST_RANGES, NOBODY = 200, "0.0.0.0/32"
LONG_TERM = "dra-sandbox:azure:LongTermMinor"
"""Kind of the stored minor versions whose standard support has ended, by name ("1.33")."""
JOINS_SUBNETS = ("4d97b98b-1d4f-4787-a291-c67834d212e7", "b24988ac-6180-42a0-ab88-20f7382dd24c")
_LONGEST_GROUP = 80


def is_accepted(inputs: Values) -> str | None:
    """Return the first error for a cluster, or None if AKS accepts it.

    Sources: cilium/cilium issue 48265 (Entra); MicrosoftDocs/azure-docs issue 56130 (ranges), and
    the pages private-clusters, api-server-authorized-ip-ranges, long-term-support;
    pulumi/pulumi-azure-native issue 3550; Azure/terraform-azurerm-aks issue 378 (a range that
    allows no address).
    """
    return next((reason for rule in _RULES if (reason := rule(inputs))), None)


def _local_accounts(inputs: Values) -> str | None:
    if inputs.get("disableLocalAccounts") and not (inputs.get("aadProfile") or {}).get("managed"):
        return (
            "BadRequest: Since kubernetes version 1.25, disableLocalAccounts can only be set on "
            "Azure AD integration "
            "enabled cluster. Please integrate your cluster with AAD."
        )
    return None


def _authorized_ranges(inputs: Values) -> str | None:
    access = inputs.get("apiServerAccessProfile") or {}
    ranges = access.get("authorizedIPRanges") or []
    if ranges and access.get("enablePrivateCluster"):
        return "BadRequest: authorizedIPRanges is not supported for private cluster"
    if len(ranges) > MOST_RANGES:
        return (
            f"BadRequest: at most {MOST_RANGES} authorized IP ranges are supported, not "
            f"{len(ranges)}"
        )
    if wrong := [each for each in ranges if _range(each) is None]:
        return (
            f"InvalidParameter: apiServerAccessProfile.authorizedIPRanges: {wrong[0]} is not a "
            "valid range"
        )
    if NOBODY in ranges and len(ranges) > 1:
        return (
            f"InvalidParameter: Setting apiServerAuthorizedIPRange to {NOBODY} is not allowed with "
            "other IP ranges. "
            "Refer to https://aka.ms/aks/auth-ip-ranges for more details"
        )
    return None


def _version(inputs: Values) -> str | None:
    wanted = str(inputs.get("kubernetesVersion") or "")
    if wanted and not is_offered(wanted):
        return (
            f"K8sVersionNotSupported: Kubernetes version {wanted} is not supported in this region."
        )
    return None


def _support_plan(inputs: Values) -> str | None:
    tier = (inputs.get("sku") or {}).get("tier")
    if inputs.get("supportPlan") == "AKSLongTermSupport" and tier != "Premium":
        return "BadRequest: AKSLongTermSupport requires the Premium tier"
    return None


def _names(inputs: Values) -> str | None:
    if not inputs.get("dnsPrefix") and not inputs.get("fqdnSubdomain"):
        return "InvalidParameter: Required parameter dnsPrefix is missing (null)."
    if not re.fullmatch(
        r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,52}[a-zA-Z0-9])?", inputs.get("dnsPrefix") or "x"
    ):
        return "InvalidParameter: The value of parameter dnsPrefix is invalid"
    if len(str(inputs.get("nodeResourceGroup") or "")) > _LONGEST_GROUP:
        return f"InvalidParameter: nodeResourceGroup has more than {_LONGEST_GROUP} characters"
    if not re.fullmatch(
        r"[a-zA-Z0-9]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?", inputs.get("resourceName") or "x"
    ):
        return "InvalidParameter: The value of parameter resourceName is invalid"
    return None


def _key_vault(inputs: Values) -> str | None:
    """Reject invalid settings of the key vault.

    Sources: learn.microsoft.com/azure/aks/use-kms-etcd-encryption, and the descriptions of the
    fields in the API.
    """
    access = inputs.get("apiServerAccessProfile") or {}
    kms = (inputs.get("securityProfile") or {}).get("azureKeyVaultKms") or {}
    key, is_private = str(kms.get("keyId") or ""), kms.get("keyVaultNetworkAccess") == "Private"
    if not kms.get("enabled"):
        return (
            "InvalidParameter: azureKeyVaultKms.keyId must be empty when it is disabled"
            if key
            else None
        )
    if not re.fullmatch(r"https://[^/]+/keys/[^/]+/[^/]+", key):
        return f'InvalidParameter: azureKeyVaultKms.keyId "{key}" is not a valid key identifier'
    if is_private != bool(kms.get("keyVaultResourceId")):
        return (
            "InvalidParameter: azureKeyVaultKms.keyVaultResourceId is for a Private key vault, "
            "which must have it"
        )
    if is_private and not access.get("enableVnetIntegration"):
        return "InvalidParameter: a Private key vault requires API Server VNet Integration"
    return None


def _network(inputs: Values) -> str | None:
    """Check the network settings.

    Data plane and policy must match: learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium. The
    DNS address must be in the service CIDR, but must not be its first address:
    …/configure-azure-cni.
    """
    network = inputs.get("networkProfile") or {}
    for key in ("podCidr", "serviceCidr"):
        if network.get(key) and _range(network[key]) is None:
            return f"InvalidParameter: The value of parameter networkProfile.{key} is invalid."
    services, address = (
        _range(network.get("serviceCidr") or SERVICE_CIDR),
        network.get("dnsServiceIP"),
    )
    if address and services and not _is_of(address, services):
        return (
            f"InvalidParameter: networkProfile.dnsServiceIP {address} must be within "
            f"{services}, not its first"
        )
    if network.get("networkPolicy") == "cilium" and network.get("networkDataplane") != "cilium":
        return "BadRequest: networkPolicy cilium requires networkDataplane cilium"
    if network.get("networkPluginMode") == "overlay" and network.get("networkPlugin") != "azure":
        return "BadRequest: networkPluginMode overlay requires networkPlugin azure"
    return None


_RULES = (
    _local_accounts,
    _authorized_ranges,
    _version,
    _key_vault,
    _names,
    _support_plan,
    _network,
)


def _range(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None


def _is_of(address: str, services: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return found in services and int(found) > int(services.network_address) + 1


def may_join_its_subnet(request: CloudRequest) -> str | None:
    """Require that a custom identity has a role on the subnet.

    Source: learn.microsoft.com/azure/aks/configure-azure-cni.
    """
    if request.inputs is None:
        return None
    pools, roles = request.inputs.get("agentPoolProfiles") or [], request.cloud.all(ROLE).values()
    for subnet in dict.fromkeys(pool.get("vnetSubnetID") for pool in pools):
        if not subnet or request.cloud.get(SUBNET, subnet) is None:
            continue  # an existing identity already has its roles
        given = [role for role in roles if str(subnet).startswith(str(role["scope"]))]
        if not any(str(role["roleDefinitionId"]).endswith(JOINS_SUBNETS) for role in given):
            return (
                "CustomRouteTableMissingPermission: The cluster identity does not have permission "
                f"Microsoft.Network/virtualNetworks/subnets/join/action on {subnet}"
            )
    return None


def services_are_apart_from_nodes(request: CloudRequest) -> str | None:
    """Reject a service CIDR that overlaps a subnet of nodes.

    Source:
    MicrosoftDocs/SupportArticles-docs:…/servicecidroverlapexistingsubnetscidr-error.md@16edcd9.
    """
    if request.inputs is None:
        return None
    services = ipaddress.ip_network(
        (request.inputs.get("networkProfile") or {}).get("serviceCidr") or SERVICE_CIDR
    )
    for pool in request.inputs.get("agentPoolProfiles") or []:
        subnet = request.cloud.get(SUBNET, str(pool.get("vnetSubnetID"))) or {}
        nodes = subnet.get("addressPrefix")
        if nodes and ipaddress.ip_network(nodes).overlaps(services):
            return (
                f"ServiceCidrOverlapExistingSubnetsCidr: The specified service CIDR {services} is "
                "conflicted with an "
                f"existing subnet CIDR {nodes}"
            )
    return None


def goes_out_by_its_gateway(request: CloudRequest) -> str | None:
    """Require that the NAT gateway was attached to the subnet before the cluster is created.

    Source: learn.microsoft.com/azure/aks/nat-gateway.
    """
    if request.inputs is None or (request.inputs.get("networkProfile") or {}).get(
        "outboundType"
    ) != ("userAssignedNATGateway"):
        return None
    for pool in request.inputs.get("agentPoolProfiles") or []:
        subnet = request.cloud.get(SUBNET, str(pool.get("vnetSubnetID")))
        if subnet is not None and not subnet.get("natGateway"):
            return (
                "BadRequest: outboundType userAssignedNATGateway requires a NAT gateway on the "
                "subnet"
            )
    return None


def moves_by_one_minor(request: CloudRequest) -> str | None:
    """Reject upgrades that skip a minor version, and downgrades.

    Source: learn.microsoft.com/azure/aks/upgrade-aks-cluster.
    """
    if request.before is None or request.inputs is None:
        return None
    now, wanted = (
        str(side.get("kubernetesVersion") or "") for side in (request.before, request.inputs)
    )
    if not now or not wanted:
        return None
    step = _minor(wanted) - _minor(now)
    if step in (0, 1):
        return None
    return (
        f"OperationNotAllowed: Upgrading Kubernetes version {newest(now)} to {newest(wanted)} "
        "is not allowed: minor versions can't be skipped or downgraded"
    )


def is_supported_by_its_plan(request: CloudRequest) -> str | None:
    """Reject a minor version after the end of its standard support, if the simulation knows this
    date. Sources: apecloud/kubeblocks PR 10136, cluster-api-provider-azure issue 5953.
    """
    inputs = request.inputs or {}
    wanted = str(inputs.get("kubernetesVersion") or "")
    ended = request.cloud.get(LONG_TERM, ".".join(wanted.split(".")[:2])) is not None
    if not wanted or not ended or inputs.get("supportPlan") == "AKSLongTermSupport":
        return None
    return (
        f"K8sVersionNotSupported: Managed cluster {inputs.get('resourceName')} is on version "
        f"{newest(wanted)}, which "
        "is only available for Long-Term Support (LTS). If you intend to onboard to LTS, please "
        "ensure the cluster is "
        "in Premium tier and LTS support plan (see https://aka.ms/aks/enable-lts). Otherwise, use "
        "[az aks "
        "get-versions] command to get the supported version list in this region. For more "
        "information, please check "
        "https://aka.ms/supported-version-list"
    )


def _minor(version: str) -> int:
    return int(version.split(".")[1]) if "." in version else MAXIMUM_MINOR


REFUSALS = (
    may_join_its_subnet,
    services_are_apart_from_nodes,
    goes_out_by_its_gateway,
    moves_by_one_minor,
    is_supported_by_its_plan,
)
