"""What is built here: etcd, and the kube-apiserver of each minor, from the Go modules that pin them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dra_planner.releases import RELEASES
from dra_sandbox.tools import GoTool

_MODULES: Final = Path(__file__).resolve().parent / "modules"
_VERSION: Final = "k8s.io/component-base/version"

MINORS: Final = tuple(RELEASES)

ETCD: Final = GoTool(
    name="etcd",
    pins=str(_MODULES / "etcd"),  # an absolute path: these pins lie here, not beside the sandbox's
    module="go.etcd.io/etcd/server/v3",
    package="go.etcd.io/etcd/server/v3",
)


def api_server(minor: int) -> GoTool:
    """Return the kube-apiserver of 1.<minor>; its modules carry no version, so the linker writes it in."""
    return GoTool(
        name="kube-apiserver",
        pins=str(_MODULES / f"kube-apiserver-1.{minor}"),
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-apiserver",
        stamps={
            f"{_VERSION}.gitVersion": "v{version}",
            f"{_VERSION}.gitMajor": "1",
            f"{_VERSION}.gitMinor": str(minor),
            f"{_VERSION}.gitTreeState": "clean",
        },
    )
