"""The cluster autoscaler on EKS: its release, the permissions of its role, and when a platform
installs it.
"""

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.releases import RELEASES as KUBERNETES
from pulumi_dra.eks import EksClusterAutoscaler
from pulumi_dra.eks.autoscaler.autoscaler_inputs import RELEASES
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform

NEEDED: dict[str, Any] = {"cluster_name": "dev", "kubernetes_version": "1.34"}
EKS_FLEET = """
cloud: eks
region: us-east-1
kubernetes: "1.35"
autoscaler: cluster-autoscaler
endpoint: {publicAccessCidrs: [198.51.100.7/32]}
systemPool: {machine: m7i.large, count: 2}
drivers: {nvidia: {version: 25.8.1}}
pools: [{name: l4, machine: g6.2xlarge, count: {min: 0, max: 4}}]
"""
WITHOUT = EKS_FLEET.replace("autoscaler: cluster-autoscaler", "autoscaler: none")
GKE_FLEET = """
cloud: gke
region: us-central1
kubernetes: "1.35"
autoscaler: gke
network: {zones: [us-central1-a]}
endpoint: {publicAccessCidrs: [198.51.100.7/32]}
systemPool: {machine: e2-standard-4, count: 1}
drivers: {nvidia: {version: 25.8.1}}
pools: [{name: l4, machine: g2-standard-8, count: {min: 0, max: 4}}]
"""


@pytest.fixture
def autoscaler(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksClusterAutoscaler("scaler", {**NEEDED, **args}))


@pytest.fixture
def platform(declare: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the platform of a fleet with these inputs in addition to its plan."""

    def make(text: str, **args: Any) -> Any:
        plan = canonical_text(
            plan_file(make_plan(PlanRequest(sources=(), fleet=read_fleet(yaml.safe_load(text)))))
        )
        return declare(lambda: DraPlatform("dra", {"plan": plan, **args}))

    return make


@pytest.mark.parametrize(("kubernetes", "release"), RELEASES.items(), ids=RELEASES)
def test_version_matches_the_cluster_and_enables_claims(
    autoscaler: Any, kubernetes: str, release: Any
) -> None:
    installed = autoscaler(kubernetes_version=kubernetes).one("Release").inputs
    assert release.version.startswith(f"{kubernetes}.")
    assert installed["values"]["image"] == {"tag": f"v{release.version}"}
    enabled = installed["values"]["extraArgs"].get("enable-dynamic-resource-allocation")
    assert enabled == ("true" if kubernetes == "1.34" else None), "since 1.35 it always does"
    assert (installed["chart"], installed["namespace"]) == ("cluster-autoscaler", "kube-system")
    assert installed["repositoryOpts"]["repo"] == "https://kubernetes.github.io/autoscaler"


def test_kubernetes_without_a_known_version_needs_a_version(autoscaler: Any) -> None:
    unknown = [each.version for each in KUBERNETES.values() if each.version not in RELEASES]
    for kubernetes in unknown:
        with pytest.raises(
            WrongInputs,
            match=f"no autoscaler version for Kubernetes {kubernetes} is known; set a version",
        ):
            autoscaler(kubernetes_version=kubernetes)
        values = (
            autoscaler(kubernetes_version=kubernetes, version=f"{kubernetes}.0")
            .one("Release")
            .inputs["values"]
        )
        assert values["image"]["tag"] == f"v{kubernetes}.0"


def test_pods_have_the_region_and_minimal_permissions(
    autoscaler: Any,
) -> None:
    values = autoscaler().one("Release").inputs["values"]
    assert values["awsRegion"] == "us-east-1", "the metadata service answers no pods"
    assert values["autoDiscovery"] == {"clusterName": "dev"}
    assert values["securityContext"]["runAsNonRoot"] is True
    assert values["containerSecurityContext"]["readOnlyRootFilesystem"] is True


def test_role_can_change_only_the_clusters_node_groups(autoscaler: Any) -> None:
    declared = autoscaler(permissions_boundary_arn="arn:aws:iam::111122223333:policy/most")
    looks, changes = json.loads(declared.one("RolePolicy").inputs["policy"])["Statement"]
    assert all(each.split(":")[1].startswith(("Describe", "Get")) for each in looks["Action"])
    assert changes["Action"] == [
        "autoscaling:SetDesiredCapacity",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
    ]
    assert changes["Condition"] == {
        "StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/dev": "owned"}
    }
    role = declared.one("Role").inputs
    assert json.loads(role["assumeRolePolicy"])["Statement"][0]["Principal"] == {
        "Service": "pods.eks.amazonaws.com"
    }
    assert role["permissionsBoundary"] == "arn:aws:iam::111122223333:policy/most"
    identity = declared.one("PodIdentityAssociation")
    assert (identity.inputs["namespace"], identity.inputs["serviceAccount"]) == (
        "kube-system",
        "cluster-autoscaler",
    )
    values = declared.one("Release").inputs["values"]
    assert values["rbac"]["serviceAccount"]["name"] == identity.inputs["serviceAccount"]


def test_pods_wait_for_their_role_which_outlives_the_cluster(
    declare: Callable[..., Any],
) -> None:
    def make() -> None:
        cluster = pulumi.ComponentResource("test:index:Cluster", "cluster")
        EksClusterAutoscaler("scaler", NEEDED, pulumi.ResourceOptions(deleted_with=cluster))  # type: ignore[arg-type]  # as a TypedDict

    declared = declare(make)
    release = declared.one("Release")
    waits = " ".join(release.depends_on)
    assert "scaler-identity" in waits
    assert "scaler-scaling" in waits
    assert release.deleted_with
    assert declared.one("PodIdentityAssociation").deleted_with
    assert [declared.one(kind).deleted_with for kind in ("Role", "RolePolicy")] == ["", ""]


def test_mirror_flags_and_custom_chart_are_used(autoscaler: Any) -> None:
    declared = autoscaler(
        chart="./charts/cluster-autoscaler",
        image_repository="registry.example/cluster-autoscaler",
        image_pull_secrets=["mirror"],
        flags={"scale-down-unneeded-time": "30m", "enable-dynamic-resource-allocation": "false"},
    )
    release = declared.one("Release").inputs
    assert release["chart"] == "./charts/cluster-autoscaler"
    assert "version" not in release
    assert release["values"]["image"]["repository"] == "registry.example/cluster-autoscaler"
    assert release["values"]["image"]["pullSecrets"] == ["mirror"]
    assert release["values"]["extraArgs"] == {
        "scale-down-unneeded-time": "30m",
        "enable-dynamic-resource-allocation": "false",
    }


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another minor version": ({"version": "1.35.2"}, "version: 1.35.2 doesn't support Kubernetes"),
    "no version": ({"version": "latest"}, '"latest" is not a version such as'),
    "a number": ({"version": 1.34}, "version: must be a string"),
    "a flag with dashes": (
        {"flags": {"--v": "2"}},
        "flags.--v: must map a flag without dashes to a string",
    ),
    "a flag that the component sets": (
        {"flags": {"cloud-provider": "gce"}},
        "flags.cloud-provider: is already set by this component",
    ),
    "flags as a list": ({"flags": ["v=2"]}, "flags: must be a map of strings"),
    "a tag in the image": ({"image_repository": "a/b:v1"}, "must not have a tag"),
    "no cluster": ({"cluster_name": ""}, "cluster_name: must be a string or an output"),
}


@pytest.mark.parametrize(("args", "reason"), WRONG.values(), ids=WRONG)
def test_wrong_inputs_are_rejected(autoscaler: Any, args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs) as caught:
        autoscaler(**args)
    assert reason in str(caught.value)


def test_platform_installs_the_fleets_autoscaler_unless_it_is_external(
    platform: Any,
) -> None:
    declared = platform(
        EKS_FLEET, cluster={"permissions_boundary_arn": "arn:aws:iam::111122223333:policy/most"}
    )
    release = declared.one("Release", "dra-autoscaler-release")
    assert release.inputs["values"]["image"]["tag"] == f"v{RELEASES['1.35'].version}"
    assert (
        declared.one("Role", "dra-autoscaler").inputs["permissionsBoundary"].endswith("policy/most")
    )
    assert declared.one("NodeGroup", "dra-l4-nodes").inputs["scalingConfig"]["minSize"] == 0, (
        "a plan of nothing"
    )
    assert (
        "dra-autoscaler-release" not in platform(EKS_FLEET, autoscaler={"install": False}).names()
    )
    assert "dra-autoscaler-release" not in platform(WITHOUT).names()


PLATFORMS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a fleet without an autoscaler": (
        WITHOUT,
        {"install": True},
        "autoscaler: applies only to a fleet with autoscaler: cluster-autoscaler or autoscaler: "
        "karpenter",
    ),
    "on GKE": (
        GKE_FLEET,
        {"install": True},
        "autoscaler: applies only to EKS, because GKE has its own autoscaler",
    ),
    "options without the autoscaler": (
        EKS_FLEET,
        {"install": False, "version": "1.35.2"},
        "autoscaler.install: is false",
    ),
    "another minor version": (
        EKS_FLEET,
        {"version": "1.34.5"},
        "autoscaler.version: 1.34.5 doesn't support Kubernetes",
    ),
    "a misspelled option": (EKS_FLEET, {"instal": True}, "autoscaler.instal: isn't an input"),
    "text": (EKS_FLEET, "no", "autoscaler: must be a structure"),  # type: ignore[dict-item]  # what a stack may say
}


@pytest.mark.parametrize(("fleet", "options", "reason"), PLATFORMS.values(), ids=PLATFORMS)
def test_platform_rejects_unused_autoscaler_options(
    platform: Any, fleet: str, options: Any, reason: str
) -> None:
    with pytest.raises(WrongInputs) as caught:
        platform(fleet, autoscaler=options)
    assert reason in str(caught.value)
