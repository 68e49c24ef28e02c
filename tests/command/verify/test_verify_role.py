"""The documented role for `verify` has exactly the permissions that it needs on a real API
server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import Project

from dra_planner.documents.snapshot import VERIFIED_KINDS
from dra_planner.plan.cluster.guard_checks import guard_kinds
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.tools.kubernetes import find_binaries

PAGE = Path(__file__).parents[3] / "docs" / "verify.md"
MINOR, USER = 36, "verifier"
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "verifier"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "pulumi-dra-verify",
    },
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
}


def role() -> dict[str, Any]:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    document: dict[str, Any] = yaml.safe_load(block)
    return document


def test_role_lists_only_the_verified_kinds() -> None:
    rules = role()["rules"]
    assert sorted(name for rule in rules for name in rule["resources"]) == sorted(VERIFIED_KINDS)
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list"}


def test_printed_role_is_documented_and_includes_guards(project: Project) -> None:
    printed = yaml.safe_load(project.run("verify", "--role").out)
    page = role()
    of_guards = [*guard_kinds(36)]
    assert printed["metadata"] == page["metadata"]
    assert sorted(name for rule in printed["rules"] for name in rule["resources"]) == sorted(
        {*VERIFIED_KINDS, *(kind.partition(".")[0] for kind in of_guards)}
    )
    assert {verb for rule in printed["rules"] for verb in rule["verbs"]} == {"list"}


@pytest.fixture(scope="module")
def verifier() -> Iterator[ApiServer]:
    """An API server that is accessed with only this role."""
    binaries = find_binaries(MINOR, names=("etcd", "kube-apiserver"))
    with control_plane(Settings(MINOR, scheduling=False), binaries) as plane:
        admin = ApiServer.of(plane)
        for document in (role(), BINDING):
            admin.create(document)
        yield ApiServer(admin.connect, {**admin.headers, "Impersonate-User": USER})


@pytest.mark.control_plane
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/nodes", 200),
        ("/api/v1/pods", 200),
        ("/apis/resource.k8s.io/v1/resourceslices", 200),
        ("/apis/resource.k8s.io/v1/deviceclasses", 200),
        ("/apis/apps/v1/daemonsets", 200),
        ("/api/v1/nodes/one", 403),
        ("/api/v1/secrets", 403),
        ("/apis/resource.k8s.io/v1/resourceclaims", 403),
    ],
)
def test_role_is_limited_on_a_real_api_server(verifier: ApiServer, path: str, status: int) -> None:
    assert verifier.request("GET", path).status == status
