"""The conditions of checkov's rules (bridgecrewio/checkov@03d5fdad) that apply to the resources of
the components.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

Inputs = Mapping[str, Any]

ALL_LOGS = {"api", "audit", "authenticator", "controllerManager", "scheduler"}
EVERYWHERE = {"0.0.0.0/0", "::/0"}


class Rule(Struct, frozen=True):
    """One rule: the resources to which it applies, a condition for the inputs of each, and inputs
    that don't satisfy the condition.
    """

    id: str
    kinds: tuple[str, ...]
    holds: Callable[[Inputs], bool]
    broken_by: Inputs


class LinkRule(Struct, frozen=True):
    """One rule about two resources: each resource of the first kind needs a resource of the second
    kind that refers to it.
    """

    id: str
    kind: str
    other: str
    by: str
    holds: Callable[[Inputs], bool] = lambda _: True


def at(inputs: Any, path: str, otherwise: Any = None) -> Any:
    """Return the value at a dotted path, or the default if a part of the path is missing."""
    for part in path.split("."):
        if not isinstance(inputs, Mapping) or part not in inputs:
            return otherwise
        inputs = inputs[part]
    return inputs


def _is(path: str, wanted: Any) -> Callable[[Inputs], bool]:
    return lambda inputs: at(inputs, path) == wanted


def _blocks(inputs: Inputs) -> list[str]:
    return [
        block["cidrBlock"] for block in at(inputs, "masterAuthorizedNetworksConfig.cidrBlocks", [])
    ]


def _volumes_encrypted(inputs: Inputs) -> bool:
    volumes = [device["ebs"] for device in inputs.get("blockDeviceMappings", [])]
    return bool(volumes) and all(volume.get("encrypted") == "true" for volume in volumes)


def _public_only_for_some(inputs: Inputs) -> bool:
    allowed = set(at(inputs, "vpcConfig.publicAccessCidrs", ["0.0.0.0/0"]))
    return at(inputs, "vpcConfig.endpointPublicAccess", True) is False or not allowed & EVERYWHERE


def _minor(inputs: Inputs) -> tuple[int, ...]:
    return tuple(int(part) for part in str(inputs.get("version", "1.0")).split("."))


def _policies_enforced(inputs: Inputs) -> bool:
    policy = at(inputs, "networkPolicy.enabled")
    return policy is True or (
        policy is False and inputs.get("datapathProvider") == "ADVANCED_DATAPATH"
    )


def _nodes_all(inputs: Inputs, key: str, good: Callable[[Any], bool]) -> bool:
    """Return whether a condition is true for all pools in a cluster, or for a separate pool."""
    return all(good(pool.get(key)) for pool in inputs.get("agentPoolProfiles", [inputs]))


AKS = ("azure-native:containerservice:ManagedCluster",)
AGENT_POOL = ("azure-native:containerservice:AgentPool",)
EKS, GROUP = ("aws:eks/cluster:Cluster",), ("aws:eks/nodeGroup:NodeGroup",)
TEMPLATE = ("aws:ec2/launchTemplate:LaunchTemplate",)
GKE, POOL = ("gcp:container/cluster:Cluster",), ("gcp:container/nodePool:NodePool",)
LOGS, KEY = ("aws:cloudwatch/logGroup:LogGroup",), ("aws:kms/key:Key",)
SUBNET = ("gcp:compute/subnetwork:Subnetwork",)

RULES = (
    Rule(
        "CKV_AWS_8",
        TEMPLATE,
        _volumes_encrypted,
        {"blockDeviceMappings": [{"ebs": {"volumeType": "gp3"}}]},
    ),
    Rule("CKV_AWS_37", EKS, lambda i: set(i.get("enabledClusterLogTypes", ())) >= ALL_LOGS, {}),
    Rule("CKV_AWS_38", EKS, _public_only_for_some, {"vpcConfig": {"endpointPublicAccess": True}}),
    Rule("CKV_AWS_39", EKS, _is("vpcConfig.endpointPublicAccess", False), {"vpcConfig": {}}),
    Rule("CKV_AWS_58", EKS, lambda i: "secrets" in at(i, "encryptionConfig.resources", ()), {}),
    Rule(
        "CKV_AWS_79",
        TEMPLATE,
        _is("metadataOptions.httpTokens", "required"),
        {"metadataOptions": {}},
    ),
    Rule(
        "CKV_AWS_100",
        GROUP,
        lambda i: "remoteAccess" not in i or bool(at(i, "remoteAccess.sourceSecurityGroupIds")),
        {"remoteAccess": {"ec2SshKey": "key"}},
    ),
    Rule("CKV_AWS_158", LOGS, lambda i: bool(i.get("kmsKeyId")), {"retentionInDays": 365}),
    Rule(
        "CKV_AWS_338", LOGS, lambda i: i.get("retentionInDays", 0) >= 365, {"retentionInDays": 30}
    ),
    Rule("CKV2_AWS_64", KEY, lambda i: bool(i.get("policy")), {"enableKeyRotation": True}),
    Rule("CKV_AWS_7", KEY, _is("enableKeyRotation", True), {}),
    Rule("CKV_AWS_339", EKS, lambda i: _minor(i) >= (1, 34), {"version": "1.29"}),
    Rule(
        "CKV_AWS_341",
        TEMPLATE,
        lambda i: at(i, "metadataOptions.httpPutResponseHopLimit", 1) <= 1,
        {"metadataOptions": {"httpPutResponseHopLimit": 2}},
    ),
    Rule(
        "CKV_GCP_1",
        GKE,
        lambda i: bool(at(i, "loggingConfig.enableComponents")),
        {"loggingService": "none"},
    ),
    Rule("CKV_GCP_7", GKE, _is("enableLegacyAbac", False), {"enableLegacyAbac": True}),
    Rule(
        "CKV_GCP_8",
        GKE,
        lambda i: bool(at(i, "monitoringConfig.enableComponents")),
        {"monitoringService": "none"},
    ),
    Rule(
        "CKV_GCP_9", POOL, _is("management.autoRepair", True), {"management": {"autoUpgrade": True}}
    ),
    Rule(
        "CKV_GCP_10",
        POOL,
        _is("management.autoUpgrade", True),
        {"management": {"autoRepair": True}},
    ),
    Rule("CKV_GCP_12", GKE, _policies_enforced, {"networkPolicy": {"enabled": False}}),
    Rule(
        "CKV_GCP_13",
        GKE,
        _is("masterAuth.clientCertificateConfig.issueClientCertificate", False),
        {"masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}}},
    ),
    Rule(
        "CKV_GCP_18",
        GKE,
        lambda i: (
            at(i, "privateClusterConfig.enablePrivateEndpoint") is True
            and not EVERYWHERE & {*_blocks(i)}
        ),
        {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]}},
    ),
    Rule("CKV_GCP_20", GKE, lambda i: "masterAuthorizedNetworksConfig" in i, {}),
    Rule("CKV_GCP_21", GKE, lambda i: bool(i.get("resourceLabels")), {}),
    Rule(
        "CKV_GCP_22",
        POOL,
        _is("nodeConfig.imageType", "COS_CONTAINERD"),
        {"nodeConfig": {"imageType": "UBUNTU"}},
    ),
    Rule(
        "CKV_GCP_23", GKE, lambda i: bool(i.get("ipAllocationPolicy")), {"networkingMode": "ROUTES"}
    ),
    Rule("CKV_GCP_25", GKE, lambda i: bool(i.get("privateClusterConfig")), {}),
    Rule("CKV_GCP_26", SUBNET, lambda i: bool(i.get("logConfig")), {}),
    Rule("CKV_GCP_61", GKE, _is("enableIntranodeVisibility", True), {}),
    Rule(
        "CKV_GCP_64",
        GKE,
        _is("privateClusterConfig.enablePrivateNodes", True),
        {"privateClusterConfig": {}},
    ),
    Rule("CKV_GCP_65", GKE, lambda i: bool(at(i, "authenticatorGroupsConfig.securityGroup")), {}),
    Rule(
        "CKV_GCP_66",
        GKE,
        _is("binaryAuthorization.evaluationMode", "PROJECT_SINGLETON_POLICY_ENFORCE"),
        {"binaryAuthorization": {"evaluationMode": "DISABLED"}},
    ),
    Rule(
        "CKV_GCP_68",
        POOL,
        _is("nodeConfig.shieldedInstanceConfig.enableSecureBoot", True),
        {"nodeConfig": {}},
    ),
    Rule(
        "CKV_GCP_69",
        POOL,
        _is("nodeConfig.workloadMetadataConfig.mode", "GKE_METADATA"),
        {"nodeConfig": {}},
    ),
    Rule(
        "CKV_GCP_70",
        GKE,
        lambda i: at(i, "releaseChannel.channel", "UNSPECIFIED") != "UNSPECIFIED",
        {"releaseChannel": {"channel": "UNSPECIFIED"}},
    ),
    Rule("CKV_GCP_71", GKE, _is("enableShieldedNodes", True), {"enableShieldedNodes": False}),
    Rule(
        "CKV_GCP_123",
        GKE,
        lambda i: "nodePools" not in i and i.get("removeDefaultNodePool") is True,
        {"nodePools": [{"name": "inside"}]},
    ),
    # Azure: checkov reads the first pool of a cluster and single pools with the same conditions.
    Rule("CKV_AZURE_5", AKS, _is("enableRBAC", True), {"enableRBAC": False}),
    Rule("CKV_AZURE_115", AKS, _is("apiServerAccessProfile.enablePrivateCluster", True), {}),
    Rule("CKV_AZURE_7", AKS, lambda inputs: bool(at(inputs, "networkProfile.networkPolicy")), {}),
    Rule("CKV2_AZURE_29", AKS, _is("networkProfile.networkPlugin", "azure"), {}),
    Rule(
        "CKV_AZURE_8",
        AKS,
        lambda inputs: at(inputs, "addonProfiles.kubeDashboard.enabled") is not True,
        {"addonProfiles": {"kubeDashboard": {"enabled": True}}},
    ),
    Rule("CKV_AZURE_116", AKS, _is("addonProfiles.azurepolicy.enabled", True), {}),
    Rule("CKV_AZURE_141", AKS, _is("disableLocalAccounts", True), {}),
    Rule("CKV_AZURE_170", AKS, _is("sku.tier", "Standard"), {"sku": {"tier": "Free"}}),
    Rule(
        "CKV_AZURE_171",
        AKS,
        lambda inputs: at(inputs, "autoUpgradeProfile.upgradeChannel", "none") != "none",
        {"autoUpgradeProfile": {"upgradeChannel": "none"}},
    ),
    Rule(
        "CKV_AZURE_172",
        AKS,
        _is("addonProfiles.azureKeyvaultSecretsProvider.config.enableSecretRotation", "true"),
        {},
    ),
    *(
        Rule(
            id,
            (*AKS, *AGENT_POOL),
            lambda inputs, key=key, good=good: _nodes_all(inputs, key, good),
            {},
        )
        for id, key, good in (
            ("CKV_AZURE_143", "enableNodePublicIP", lambda value: value is False),
            ("CKV_AZURE_168", "maxPods", lambda value: value is not None and value >= 50),
            ("CKV_AZURE_169", "type", lambda value: value == "VirtualMachineScaleSets"),
            ("CKV_AZURE_227", "enableEncryptionAtHost", lambda value: value is True),
        )
    ),
)

LINK_RULES = (
    LinkRule(
        "CKV2_GCP_18", "gcp:compute/network:Network", "gcp:compute/firewall:Firewall", "network"
    ),
    LinkRule("CKV2_AWS_11", "aws:ec2/vpc:Vpc", "aws:ec2/flowLog:FlowLog", "vpcId"),
    LinkRule(
        "CKV2_AWS_12",
        "aws:ec2/vpc:Vpc",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "vpcId",
        lambda inputs: not inputs.get("ingress") and not inputs.get("egress"),
    ),
)


def findings(resources: list[Any]) -> set[tuple[str, str]]:
    """Return (rule, resource) for each resource that a rule finds."""
    found = {
        (rule.id, each.name)
        for rule in RULES
        for each in resources
        if each.type in rule.kinds and not rule.holds(each.inputs)
    }
    for link in LINK_RULES:
        for each in (each for each in resources if each.type == link.kind):
            others = [
                o
                for o in resources
                if o.type == link.other and o.inputs.get(link.by) == f"{each.name}-id"
            ]
            if not others or not all(link.holds(other.inputs) for other in others):
                found.add((link.id, each.name))
    return found
