"""The command lines of the components."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from dra_sandbox.control_plane.plane import ControlPlane, Settings, serving_key, token_file
from dra_sandbox.control_plane.processes import KUBELET
from dra_sandbox.tools.kubernetes import Binaries

_HERE = "127.0.0.1"

# The scheduler retries pending pods after a second, and doesn't throttle its requests. Both
# settings save time in a rehearsal, and don't change the scheduler's decisions.
SCHEDULER_CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: {kubeconfig}
  qps: 500
  burst: 1000
leaderElection:
  leaderElect: false
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
"""


def commands(plane: ControlPlane, settings: Settings, binaries: Binaries) -> dict[str, list[str]]:
    """Return the command of each component of `plane`, in start order."""
    gates, paths = (
        _gates(settings.gates),
        {name: str(path) for name, path in binaries.paths.items()},
    )
    made = {
        "etcd": _etcd(plane),
        "kube-apiserver": _api_server(plane, settings) + gates,
        "kube-controller-manager": _controller_manager(plane) + gates,
        "kube-scheduler": _scheduler(plane) + gates,
    }
    kubelet = [sys.executable, "-P", "-m", KUBELET, f"--kubeconfig={plane.kubeconfig}"]
    return {
        name: kubelet if name == "kubelet" else [paths[name], *made[name]]
        for name in plane.components
    }


def _etcd(plane: ControlPlane) -> list[str]:
    here, peers = f"http://{_HERE}:{plane.ports.etcd}", f"http://{_HERE}:{plane.ports.etcd_peer}"
    return [
        "--unsafe-no-fsync",
        f"--data-dir={plane.folder / 'etcd'}",
        f"--listen-client-urls={here}",
        f"--advertise-client-urls={here}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
    ]


def _api_server(plane: ControlPlane, settings: Settings) -> list[str]:
    """Return the API server's command, without webhooks (their pods don't run) and without service
    accounts. TaintNodesByCondition is disabled, so nodes are ready when they're created.
    """
    key = plane.folder / "accounts.key"
    command = [
        f"--etcd-servers=http://{_HERE}:{plane.ports.etcd}",
        f"--bind-address={_HERE}",
        f"--secure-port={plane.ports.api_server}",
        f"--cert-dir={plane.folder / 'certificates'}",
        f"--tls-cert-file={plane.certificate}",
        f"--tls-private-key-file={serving_key(plane.folder)}",
        f"--token-auth-file={token_file(plane.folder)}",
        "--authorization-mode=RBAC",
        "--anonymous-auth=false",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,MutatingAdmissionWebhook,"
        "ValidatingAdmissionWebhook",
    ]
    if settings.tolerates_extended_resources:
        command.append("--enable-admission-plugins=ExtendedResourceToleration")
    if settings.served:
        versions = ",".join(f"{name}=true" for name in sorted(settings.served))
        command.append(f"--runtime-config={versions}")
    return command if settings.scheduling else [*command, "--watch-cache=false"]


def _controller_manager(plane: ControlPlane) -> list[str]:
    """Return the controller manager's command, without the controllers that evaluate the heartbeats
    of kubelets.
    """
    return [
        f"--kubeconfig={plane.kubeconfig}",
        "--leader-elect=false",
        f"--bind-address={_HERE}",
        f"--secure-port={plane.ports.controller_manager}",
        f"--cert-dir={plane.folder / 'certificates'}",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
        f"--service-account-private-key-file={plane.folder / 'accounts.key'}",
        "--controllers=*,-node-lifecycle-controller,-taint-eviction-controller",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def _scheduler(plane: ControlPlane) -> list[str]:
    return [
        f"--config={plane.folder / 'scheduler.yaml'}", f"--bind-address={_HERE}",
        f"--secure-port={plane.ports.scheduler}", f"--cert-dir={plane.folder / 'certificates'}",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
    ]  # fmt: skip


def _gates(gates: Mapping[str, bool]) -> list[str]:
    return (
        ["--feature-gates=" + ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())]
        if gates
        else []
    )
