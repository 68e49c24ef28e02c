"""The resources that a component declares: tests run the component on Pulumi's mocks, which record
every registration with its options.
"""

import asyncio
import base64
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from msgspec import Struct
from pulumi.runtime import mocks

from pulumi_dra.platform.platform import DraPlatform

PROJECT = Path(__file__).parents[2]

# Modules beside the tests are importable by name.
sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config: pytest.Config) -> None:
    # The SDKs warn about their own deprecated resources whenever one of their modules is imported.
    config.addinivalue_line(
        "filterwarnings", r"ignore::DeprecationWarning:pulumi_(aws|gcp|azure_native)\..*"
    )


class Registered(Struct, frozen=True):
    """One resource in the form that the engine gets. Inputs have the provider's spelling."""

    type: str
    name: str
    inputs: Mapping[str, Any]
    parent: str
    depends_on: frozenset[str]
    ignore_changes: tuple[str, ...]
    deleted_with: str
    delete_before_replace: bool
    provider: str
    protect: bool
    retain_on_delete: bool
    replace_on_changes: tuple[str, ...]
    update_minutes: str


class Declared(Struct):
    """Everything that was registered, in order."""

    resources: list[Registered] = []

    def all(self, kind: str) -> list[Registered]:
        """Every resource whose type ends in `kind` (LaunchTemplate)."""
        return [resource for resource in self.resources if resource.type.rpartition(":")[2] == kind]

    def one(self, kind: str, name: str = "") -> Registered:
        found = [resource for resource in self.all(kind) if not name or resource.name == name]
        assert len(found) == 1, (
            f"{len(found)} of {kind} {name}: {[resource.name for resource in self.all(kind)]}"
        )
        return found[0]

    def names(self) -> list[str]:
        return [resource.name for resource in self.resources]


COMPUTED: dict[str, Callable[[str], dict[str, Any]]] = {
    "aws:eks/cluster:Cluster": lambda name: {
        "name": name,
        "arn": f"arn:aws:eks:us-east-1:111122223333:cluster/{name}",
        "endpoint": "https://api.example",
        "certificateAuthority": {"data": "Q0E="},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"},
        "identities": [{"oidcs": [{"issuer": "https://oidc.example/id/1"}]}],
        "vpcConfig": {"clusterSecurityGroupId": "sg-cluster", "vpcId": "vpc-1", "subnetIds": []},
    },
    "aws:ec2/vpc:Vpc": lambda name: {"arn": f"arn:aws:ec2:us-east-1:111122223333:vpc/{name}"},
    "aws:ec2/placementGroup:PlacementGroup": lambda name: {"name": name},
    "aws:ec2/eip:Eip": lambda name: {"allocationId": f"eipalloc-{name}"},
    "aws:cloudwatch/logGroup:LogGroup": lambda name: {
        "arn": f"arn:aws:logs:us-east-1:111122223333:log-group:{name}"
    },
    "aws:iam/role:Role": lambda name: {
        "name": name,
        "arn": f"arn:aws:iam::111122223333:role/{name}",
    },
    "aws:iam/instanceProfile:InstanceProfile": lambda name: {"name": name},
    "aws:sqs/queue:Queue": lambda name: {
        "name": name,
        "arn": f"arn:aws:sqs:us-east-1:111122223333:{name}",
        "url": f"https://sqs.us-east-1.amazonaws.com/111122223333/{name}",
    },
    "aws:cloudwatch/eventRule:EventRule": lambda name: {"name": name},
    "aws:kms/key:Key": lambda name: {"arn": f"arn:aws:kms:us-east-1:111122223333:key/{name}"},
    "aws:ec2/launchTemplate:LaunchTemplate": lambda name: {"latestVersion": 1},
    "aws:eks/nodeGroup:NodeGroup": lambda name: {
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}"}]}]
    },
    "azure-native:resources:ResourceGroup": lambda name: {"name": name},
    "azure-native:network:VirtualNetwork": lambda name: {"name": name},
    "azure-native:network:PublicIPAddress": lambda name: {"ipAddress": "198.51.100.7"},
    "azure-native:managedidentity:UserAssignedIdentity": lambda name: {
        "principalId": f"{name}-principal"
    },
    "azure-native:containerservice:AgentPool": lambda name: {"name": name},
    "azure-native:containerservice:ManagedCluster": lambda name: {
        "name": name,
        "fqdn": f"{name}.hcp.eastus.azmk8s.io",
        "privateFQDN": "",
        "oidcIssuerProfile": {"issuerURL": "https://oidc.example/1/"},
        # given as a list of ids
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {}},
    },
    "gcp:container/cluster:Cluster": lambda name: {
        "name": name,
        "endpoint": "192.0.2.10",
        "masterAuth": {"clusterCaCertificate": "Q0E="},
    },
    "gcp:serviceaccount/account:Account": lambda name: {
        "email": f"{name}@p.example",
        "project": "p",
    },
    "kubernetes:helm.sh/v3:Release": lambda name: {"status": {"status": "deployed"}},
}

AZURE_KUBECONFIG = {
    "clusters": [
        {
            "name": "dev",
            "cluster": {"server": "https://dev.example:443", "certificate-authority-data": "Q0E="},
        },
    ]
}
ANSWERS: dict[str, dict[str, Any]] = {
    "azure-native:authorization:getClientConfig": {
        "objectId": "me",
        "clientId": "c",
        "subscriptionId": "s",
        "tenantId": "t",
    },
    "azure-native:containerservice:listManagedClusterUserCredentials": {
        "kubeconfigs": [
            {
                "name": "clusterUser",
                "value": base64.b64encode(yaml.safe_dump(AZURE_KUBECONFIG).encode()).decode(),
            }
        ]
    },
    "aws:index/getAvailabilityZones:getAvailabilityZones": {
        "names": [f"us-east-1{letter}" for letter in "abcdf"]
    },
    "aws:index/getPartition:getPartition": {"partition": "aws"},
    "aws:index/getCallerIdentity:getCallerIdentity": {
        "accountId": "111122223333",
        "arn": "arn:aws:sts::111122223333:assumed-role/deploy/me",
    },
    "aws:index/getRegion:getRegion": {"region": "us-east-1"},
    "aws:iam/getSessionContext:getSessionContext": {
        "issuerArn": "arn:aws:iam::111122223333:role/deploy"
    },
    "aws:eks/getNodeGroups:getNodeGroups": {"names": []},
    "aws:eks/getAddonVersion:getAddonVersion": {"version": "v9.9.9-eksbuild.9"},
    "aws:iam/getRoles:getRoles": {
        "arns": [
            "arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
            "arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
        ],
        "names": ["AWSServiceRoleForAutoScaling", "AWSServiceRoleForEC2Spot"],
    },
    "gcp:organizations/getProject:getProject": {"number": "123456789012"},
    "azure-native:containerservice:getManagedCluster": {
        "agentPoolProfiles": [{"name": "t4", "count": 3, "enableAutoScaling": True}]
    },
    "gcp:compute/getZones:getZones": {
        "names": [f"us-central1-{zone}" for zone in ("a", "ai1a", "b", "c", "f")]
    },
}


Through = Callable[
    [mocks.MockResourceArgs, str | None, dict[str, Any]], tuple[str | None, dict[str, Any]]
]


class _Mocks(mocks.Mocks):
    def __init__(self, through: Through | None = None) -> None:
        self._through: Through = through or (lambda _, id, outputs: (id, outputs))

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        computed = COMPUTED.get(args.typ, lambda name: {})(args.name)
        id = f"{args.name}-id" if args.custom else None
        return self._through(args, id, {**args.inputs, **computed})

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        if args.token == "aws:ec2/getSubnet:getSubnet":
            zone = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1b"}.get(args.args["id"])
            if zone is None:  # made here: NETWORK-private-ZONE-id
                zone = args.args["id"].removesuffix("-id").partition("-private-")[2]
            return {"availabilityZone": zone}, []
        return ANSWERS[args.token], []


class _Monitor(mocks.MockMonitor):
    def __init__(self, declared: Declared, cloud: mocks.Mocks) -> None:
        super().__init__(cloud)
        self._declared = declared

    def RegisterResource(self, request: Any) -> Any:
        if request.type != "pulumi:pulumi:Stack":
            inputs = pulumi.runtime.rpc.deserialize_properties(request.object)
            self._declared.resources.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    inputs=inputs,
                    parent=_name(request.parent),
                    depends_on=frozenset(_name(urn) for urn in request.dependencies),
                    ignore_changes=tuple(request.ignoreChanges),
                    deleted_with=_name(request.deletedWith),
                    delete_before_replace=request.deleteBeforeReplace,
                    provider=request.provider.split("::")[-2] if "::" in request.provider else "",
                    protect=request.protect,
                    retain_on_delete=request.retainOnDelete,
                    replace_on_changes=tuple(request.replaceOnChanges),
                    update_minutes=request.customTimeouts.update,
                )
            )
        return super().RegisterResource(request)


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


@pytest.fixture(scope="session")
def declare() -> Callable[..., Declared]:
    """Return a function that runs a function which creates components, waits for all outputs, and
    returns the declared resources.

    `through` can be called between the components and the mocks. It gets each resource and the
    invented outputs of the mocks, and returns the ID and the outputs.
    """

    loop = asyncio.new_event_loop()

    def run(make: Callable[[], Any], through: Through | None = None) -> Declared:
        # Another test's `asyncio.run` leaves the thread without an event loop.
        asyncio.set_event_loop(loop)
        declared = Declared()
        cloud = _Mocks(through)
        monitor = _Monitor(declared, cloud)
        pulumi.runtime.set_mocks(
            cloud, project="project", stack="dev", preview=False, monitor=monitor
        )

        @pulumi.runtime.test
        def body() -> Any:
            made = make()
            return made if isinstance(made, pulumi.Output) else None

        body()
        return declared

    return run


@pytest.fixture(scope="session")
def stack() -> Callable[[str], Callable[[], DraPlatform]]:
    """Return a function that creates the platform of a stack in this repository from its fleet and
    its plan file.
    """

    def make(name: str) -> DraPlatform:
        settings = yaml.safe_load((PROJECT / f"stacks/Pulumi.{name}.yaml").read_text())["config"]
        plan = (PROJECT / f"stacks/{name}.plan.json").read_text()
        group = settings.get("pulumi-dra:securityGroup")
        return DraPlatform(
            "dra",
            {
                "plan": plan,
                "cluster": {"security_group": group} if group else {},
            },
        )

    return lambda name: lambda: make(name)
