"""Rehearse on a disposable cluster of the user: kind, k3d, a vcluster, or another control plane.

A cluster that could be in use is rejected. At the end, all created objects are deleted.
"""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from dra_planner.releases import features_of, parse_version
from dra_sandbox.control_plane import ApiRejection, ApiServer, ControlPlaneError
from dra_sandbox.control_plane.kubeconfig import api_server_of
from dra_sandbox.control_plane.kubelet import serve
from dra_sandbox.control_plane.lifetime import stopped_on_signals
from dra_sandbox.rehearsal.cluster import DAEMON_LABEL
from dra_sandbox.rehearsal.rehearsing import Where
from dra_sandbox.rehearsal.snapshot import NODES, PODS, SLICES
from dra_sandbox.rehearsal.workload_removal import clear_workloads

Json = dict[str, Any]

MARK: Final = "pulumi-dra/throw-away"
"""Label of the namespace kube-system that marks a cluster as disposable."""

_NAMESPACES: Final = "/api/v1/namespaces"
_CLASSES: Final = "/apis/resource.k8s.io/v1/deviceclasses"
_OF_KUBERNETES: Final = ("kube-system", "kube-public", "kube-node-lease", "local-path-storage")
_LOCAL: Final = ("kind", "k3s", "k3d", "minikube")
_HEARTBEAT_SECONDS: Final = 10.0


class NotThrowAway(Exception):
    """The cluster could be in use. The message contains the reason for this assumption."""


@contextlib.contextmanager
def borrowed_cluster(kubeconfig: Path, context: str, minor: int) -> Generator[Where]:
    """Cordon the nodes of a kubeconfig's cluster, and yield the cluster.

    Afterward, restore the cluster. Raises NotThrowAway if the cluster could be in use, and
    ControlPlaneError if it can't be used: unreadable kubeconfig, no answer, or another minor
    version.
    """
    server = _server(kubeconfig, context)
    version = str(server.call("GET", "/version")["gitVersion"]).removeprefix("v").partition("+")[0]
    found, requested = (
        features_of(parse_version(".".join(version.split(".")[:2]))),
        features_of(minor),
    )
    if found != requested:
        raise ControlPlaneError(
            f"the cluster in {kubeconfig} runs {found.version}, but the plan assumes "
            f"{requested.version}"
        )
    refuse_real(server)
    before = {path: _names(server, path) for path in (_NAMESPACES, NODES, SLICES, _CLASSES)}
    over = threading.Event()
    with stopped_on_signals(), _cordoned(server):
        for work in (_run_pods, _keep_ready):
            threading.Thread(target=work, args=(server, before[NODES], over), daemon=True).start()
        try:
            yield Where(server, version)
        finally:
            _remove(server, before)
            over.set()


def refuse_real(server: ApiServer) -> None:
    """Raise NotThrowAway unless the cluster is marked and has no cloud machines, no published
    devices, and no pods outside the namespaces of Kubernetes.
    """
    system = server.call("GET", f"{_NAMESPACES}/kube-system")
    if (system["metadata"].get("labels") or {}).get(MARK) != "true":
        raise NotThrowAway(
            "the cluster isn't marked as disposable; run `kubectl label namespace kube-system "
            f"{MARK}=true` if everything in the cluster may be deleted"
        )
    for node in server.listed(NODES)[0]:
        scheme = str(node["spec"].get("providerID") or "").partition("://")[0]
        if scheme and scheme not in _LOCAL:
            raise NotThrowAway(
                f"node {node['metadata']['name']} runs on {scheme}, so this is a real cluster"
            )
    drivers = sorted({each["spec"]["driver"] for each in server.listed(SLICES)[0]})
    if drivers:
        raise NotThrowAway(
            f"the cluster already has devices from {', '.join(drivers)}; use a cluster "
            "without a DRA driver"
        )
    spaces = sorted(
        {each["metadata"]["namespace"] for each in server.listed(PODS)[0]} - {*_OF_KUBERNETES}
    )
    if spaces:
        raise NotThrowAway(
            f"pods already run in these namespaces: {', '.join(spaces)}; use a cluster without "
            "workloads"
        )


def _server(kubeconfig: Path, context: str) -> ApiServer:
    try:
        document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ControlPlaneError(f"{kubeconfig} can't be read as a kubeconfig: {error}") from error
    if not isinstance(document, dict):
        raise ControlPlaneError(f"{kubeconfig} isn't a kubeconfig")
    return api_server_of(document, context, kubeconfig.parent)


def _names(server: ApiServer, path: str) -> frozenset[str]:
    return frozenset(each["metadata"]["name"] for each in server.listed(path)[0])


@contextlib.contextmanager
def _cordoned(server: ApiServer) -> Generator[None]:
    """Cordon the existing nodes while the block runs."""
    open_nodes = [
        each["metadata"]["name"]
        for each in server.listed(NODES)[0]
        if not each["spec"].get("unschedulable")
    ]
    try:
        _set_cordon(server, open_nodes, cordoned=True)
        yield
    finally:
        _set_cordon(server, open_nodes, cordoned=False)


def _set_cordon(server: ApiServer, names: Iterable[str], *, cordoned: bool) -> None:
    for name in names:
        body: Json = {"spec": {"unschedulable": cordoned or None}}
        server.call("PATCH", f"{NODES}/{name}", body, "application/merge-patch+json")


def _run_pods(server: ApiServer, others: frozenset[str], over: threading.Event) -> None:
    """Act as the kubelet for the nodes that the rehearsal adds."""
    while not over.is_set():
        with contextlib.suppress(
            ControlPlaneError, ApiRejection, http.client.HTTPException, OSError, ValueError
        ):
            serve(server, lambda node: node not in others and not over.is_set())
        over.wait(0.5)


def _keep_ready(server: ApiServer, others: frozenset[str], over: threading.Event) -> None:
    """Report repeatedly that these nodes are ready, because the node controller marks silent nodes
    as not ready.
    """
    while not over.wait(_HEARTBEAT_SECONDS):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with contextlib.suppress(ControlPlaneError, ApiRejection):
            for name in _names(server, NODES) - others:
                ready = {
                    "type": "Ready",
                    "status": "True",
                    "reason": "KubeletReady",
                    "lastHeartbeatTime": now,
                }
                server.call(
                    "PATCH",
                    f"{NODES}/{name}/status",
                    {"status": {"conditions": [ready]}},
                    "application/strategic-merge-patch+json",
                )


def _remove(server: ApiServer, before: dict[str, frozenset[str]]) -> None:
    """Delete all created objects."""
    clear_workloads(server)
    for pod in server.listed(PODS)[0]:
        metadata = pod["metadata"]
        if DAEMON_LABEL in (metadata.get("labels") or {}):
            server.delete(
                f"{_NAMESPACES}/{metadata['namespace']}/pods/{metadata['name']}", at_once=True
            )
    for path in (SLICES, NODES, _CLASSES, _NAMESPACES):
        for name in _names(server, path) - before[path]:
            server.delete(f"{path}/{name}")
