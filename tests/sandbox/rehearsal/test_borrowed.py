"""The user's own cluster: refused unless it is marked as disposable, used for the rehearsal, and
restored afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from plans import deployment, plan_of, sources

from dra_sandbox.control_plane import (
    ApiServer,
    ControlPlane,
    ControlPlaneError,
    Settings,
    control_plane,
)
from dra_sandbox.control_plane.kubeconfig import api_server_of
from dra_sandbox.rehearsal import NotThrowAway, RehearsalRequest, borrowed_cluster, rehearse
from dra_sandbox.rehearsal.existing_cluster import MARK, refuse_real
from dra_sandbox.tools.kubernetes import find_binaries

MINOR = 36
SYSTEM = "/api/v1/namespaces/kube-system"
KINDS = ("namespaces", "nodes", "pods")
OWN = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "own"},
    "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}},
}


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane with its own node and without the mark."""
    with control_plane(Settings(MINOR), find_binaries(MINOR)) as started:
        ApiServer.of(started).create(OWN)
        yield started


@pytest.fixture
def marked(plane: ControlPlane) -> Iterator[ApiServer]:
    server = ApiServer.of(plane)
    _mark(server, "true")
    yield server
    _mark(server, None)


def _mark(server: ApiServer, value: str | None) -> None:
    server.call(
        "PATCH", SYSTEM, {"metadata": {"labels": {MARK: value}}}, "application/merge-patch+json"
    )


def names(server: ApiServer) -> dict[str, set[str]]:
    return {
        kind: {each["metadata"]["name"] for each in server.listed(f"/api/v1/{kind}")[0]}
        for kind in KINDS
    }


@pytest.mark.control_plane
def test_a_cluster_without_the_label_is_not_changed(plane: ControlPlane) -> None:
    before = names(ApiServer.of(plane))
    with (
        pytest.raises(
            NotThrowAway, match="kubectl label namespace kube-system pulumi-dra/throw-away=true"
        ),
        borrowed_cluster(plane.kubeconfig, "", MINOR),
    ):
        pass
    assert names(ApiServer.of(plane)) == before


@pytest.mark.control_plane
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "i-1"},
                "spec": {"providerID": "aws:///a/i-1"},
            },
            "node i-1 runs on aws, so this is a real cluster",
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "shop", "namespace": "default"},
                "spec": {"containers": [{"name": "shop", "image": "shop"}]},
            },
            "pods already run in these namespaces: default",
        ),
        (
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": "real"},
                "spec": {
                    "driver": "gpu.example.com",
                    "nodeName": "own",
                    "pool": {"name": "own", "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "gpu-0"}],
                },
            },
            "the cluster already has devices from gpu.example.com",
        ),
    ],
)
def test_a_labeled_cluster_with_real_resources_is_rejected(
    marked: ApiServer, made: dict[str, object], message: str
) -> None:
    marked.create(made)
    try:
        with pytest.raises(NotThrowAway, match=message):
            refuse_real(marked)
    finally:
        marked.delete(marked.path(made), at_once=True)


@pytest.mark.control_plane
def test_a_borrowed_cluster_is_restored_after_the_rehearsal(
    plane: ControlPlane, marked: ApiServer
) -> None:
    before, given = names(marked), sources(deployment("web", 3))

    with borrowed_cluster(plane.kubeconfig, "", MINOR) as where:
        found = rehearse(where, RehearsalRequest(plan=plan_of(given), sources=given))
        assert marked.call("GET", "/api/v1/nodes/own")["spec"].get("unschedulable") is True

    (web,) = found.rows
    assert (web.outcome.placed, web.pending, web.difference) == (3, 0, None)
    assert all(pod.node != "own" for pod in web.outcome.pods)
    assert names(marked) == before
    assert not marked.call("GET", "/api/v1/nodes/own")["spec"].get("unschedulable")


@pytest.mark.control_plane
def test_a_cluster_of_another_version_is_rejected(plane: ControlPlane, marked: ApiServer) -> None:
    with (
        pytest.raises(ControlPlaneError, match=r"runs 1\.36, but the plan assumes 1\.35"),
        borrowed_cluster(plane.kubeconfig, "", 35),
    ):
        pass


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"current-context": "other"}, 'doesn\'t have a context "other"'),
        (
            {"users": [{"name": "u", "user": {"exec": {"command": "aws"}}}]},
            "\" doesn't have a token or a client certificate",
        ),
        (
            {"clusters": [{"name": "c", "cluster": {"server": "http://10.0.0.1"}}]},
            "doesn't have a server at https://",
        ),
    ],
)
def test_an_incomplete_kubeconfig_is_reported(change: dict[str, object], message: str) -> None:
    document = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        **change,
    }
    with pytest.raises(ControlPlaneError, match=message):
        api_server_of(yaml.safe_load(yaml.safe_dump(document)))
