"""Access to clusters: the credentials in kubeconfigs, and the networks and names of API servers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pulumi
import pytest
from pulumi.runtime.config import set_all_config

from pulumi_dra.aks import AksCluster
from pulumi_dra.aks.kubeconfig import LOGINS
from pulumi_dra.eks import EksCluster
from pulumi_dra.gke import GkeCluster
from pulumi_dra.inputs.cidrs import unreachable_from_outside

ROLE, OTHER = "arn:aws:iam::111122223333:role/platform", "arn:aws:iam::111122223333:role/ci"


@pytest.fixture
def configured() -> Iterator[Callable[[dict[str, str]], None]]:
    yield set_all_config
    set_all_config({})


def token_arguments(declare: Any, **args: Any) -> list[str]:
    """Return the arguments with which the kubeconfig calls the AWS CLI for a token."""
    found: list[Any] = []
    declare(
        lambda: EksCluster("dev", {"kubernetes_version": "1.34", **args}).kubeconfig.apply(
            found.append
        )
    )
    arguments: list[str] = found[0]["users"][0]["user"]["exec"]["args"]
    return arguments


AS_PROVIDER = {
    "a profile": ({"aws:profile": "work"}, ["--profile", "work"]),
    "a role": (
        {"aws:assumeRoles": json.dumps([{"roleArn": OTHER}, {"roleArn": ROLE}])},
        ["--role-arn", ROLE],
    ),
    "a role in the older setting": (
        {"aws:assumeRole": json.dumps({"roleArn": ROLE})},
        ["--role-arn", ROLE],
    ),
}


@pytest.mark.parametrize(("config", "expected"), AS_PROVIDER.values(), ids=AS_PROVIDER)
def test_kubeconfig_uses_the_default_providers_credentials(
    declare: Any, configured: Any, config: dict[str, str], expected: list[str]
) -> None:
    configured(config)
    arguments = token_arguments(declare)
    at = arguments.index(expected[0])
    assert arguments[at : at + 2] == expected


def test_explicit_role_takes_precedence_over_the_provider(declare: Any, configured: Any) -> None:
    configured({"aws:profile": "work"})
    arguments = token_arguments(declare, kubeconfig_role_arn=OTHER)
    assert arguments[-2:] == ["--role-arn", OTHER]
    assert "--profile" not in arguments


def test_gke_can_be_reached_by_dns_name(declare: Any) -> None:
    found: list[Any] = []

    def make() -> Any:
        args: Any = {
            "kubernetes_version": "1.34",
            "region": "us-central1",
            "security_group": "none",
        }
        return GkeCluster("dev", {**args, "dns_endpoint": True}).kubeconfig.apply(found.append)

    def named(
        args: Any, id: str | None, outputs: dict[str, Any]
    ) -> tuple[str | None, dict[str, Any]]:
        if args.typ == "gcp:container/cluster:Cluster":
            outputs["controlPlaneEndpointsConfig"] = {
                "dnsEndpointConfig": {"endpoint": "gke-1.example"}
            }
        return id, outputs

    inputs = declare(make, named).one("Cluster").inputs
    assert inputs["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": True}
    }
    assert found[0]["clusters"][0]["cluster"] == {"server": "https://gke-1.example"}


@pytest.mark.parametrize("login", LOGINS)
def test_aks_kubeconfig_uses_the_selected_login(declare: Any, login: str) -> None:
    found: list[Any] = []
    args: Any = {"kubernetes_version": "1.35", "location": "eastus", "kubelogin": login}
    declare(lambda: AksCluster("dev", args).kubeconfig.apply(found.append))
    (user,) = found[0]["users"]
    assert user["user"]["exec"]["command"] == "kubelogin"
    arguments = user["user"]["exec"]["args"]
    assert arguments[arguments.index("--login") + 1] == login


@pytest.mark.parametrize(
    ("cidrs", "server"),
    [(["8.8.8.0/24"], "dev-cluster.hcp.eastus.azmk8s.io"), ([], "dev-cluster.private.example")],
)
def test_aks_kubeconfig_has_the_reachable_server_name(
    declare: Any, cidrs: list[str], server: str
) -> None:
    found: list[str] = []

    def named(
        args: Any, id: str | None, outputs: dict[str, Any]
    ) -> tuple[str | None, dict[str, Any]]:
        if args.typ.endswith(":ManagedCluster"):
            outputs["privateFQDN"] = "dev-cluster.private.example"
        return id, outputs

    args: Any = {"kubernetes_version": "1.35", "location": "eastus", "public_access_cidrs": cidrs}
    declare(lambda: AksCluster("dev", args).endpoint.apply(found.append), named)
    assert found == [f"https://{server}"]


@pytest.mark.parametrize(
    ("cidrs", "message"),
    [
        ([], "doesn't have an endpoint outside the cluster's network"),
        (
            ["203.0.113.0/24"],
            "its API server is open only to documentation addresses (203.0.113.0/24)",
        ),
        (["192.0.2.7/32", "2001:db8::/48"], "documentation addresses"),
        (["203.0.113.0/24", "8.8.8.0/24"], ""),
        (["8.8.8.0/24"], ""),
    ],
)
def test_unreachable_api_server_is_explained(cidrs: list[str], message: str) -> None:
    found = unreachable_from_outside(cidrs)
    assert message in found
    assert bool(found) is bool(message)


@pytest.mark.parametrize(
    ("stack_name", "warned"), [("eks-dev", True), ("gke-dev", True), ("aks-dev", True)]
)
def test_unreachable_platform_is_reported_before_creation(
    declare: Any, stack: Any, monkeypatch: pytest.MonkeyPatch, stack_name: str, warned: bool
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi, "warn", lambda text, *_: warnings.append(text))
    declare(stack(stack_name))
    assert any("fails at the first object" in text for text in warnings) is warned
