"""The description of a control plane: its settings, and the paths of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, to_builtins

from dra_sandbox.control_plane.problems import ControlPlaneError

COMPONENTS: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
)
"""The processes of a control plane, in start order."""

SERVERS: Final = COMPONENTS[:2]
"""Components without a kubeconfig, because the other components connect to them."""

_FORMAT: Final = 2
_RECORD: Final = "control-plane.json"


class Settings(Struct, frozen=True):
    """Settings of a control plane: Kubernetes minor version, feature gates that differ from their
    defaults, API versions that are off by default but served here, and whether pods are
    scheduled.

    With `tolerates_extended_resources`, the API server lets pods tolerate the taints of the
    extended resources that they request, as managed clouds do. Without `scheduling`, only etcd and
    the API server run, and etcd itself answers reads.
    """

    minor: int
    gates: Mapping[str, bool] = {}
    served: frozenset[str] = frozenset()
    scheduling: bool = True
    tolerates_extended_resources: bool = False

    @property
    def components(self) -> tuple[str, ...]:
        """The processes to start."""
        return COMPONENTS if self.scheduling else SERVERS


class Ports(Struct, frozen=True):
    """Ports of the servers, all on 127.0.0.1."""

    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    scheduler: int


class ControlPlane(Struct, frozen=True):
    """A control plane in `folder`: its minor version, the version of its API server, its ports, and
    its token.
    """

    folder: Path
    minor: int
    version: str
    ports: Ports
    token: str
    components: tuple[str, ...] = COMPONENTS

    def __repr__(self) -> str:
        """Omit the token, so that no message contains it."""
        return f"ControlPlane({str(self.folder)!r})"

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://127.0.0.1:{self.ports.api_server}"

    @property
    def certificate(self) -> Path:
        """Path of the API server's self-signed certificate."""
        return serving_certificate(self.folder)

    @property
    def kubeconfig(self) -> Path:
        """Path of the kubeconfig for kubectl and the components."""
        return self.folder / "kubeconfig"

    def log(self, component: str) -> Path:
        """Return the path of a component's log."""
        return self.folder / "logs" / f"{component}.log"

    def write(self) -> None:
        """Write the description to the folder, without the token, which has its own file."""
        document = {"format": _FORMAT, **to_builtins(self, enc_hook=str)}
        del document["token"]
        (self.folder / _RECORD).write_text(json.dumps(document, indent=2), encoding="utf-8")


def is_kept(folder: Path) -> bool:
    """Return True if a control plane was started in `folder` and not stopped. Its processes may
    have ended.
    """
    return (folder / _RECORD).is_file()


def read_plane(folder: Path) -> ControlPlane:
    """Return the control plane in `folder`. Raises ControlPlaneError if there is no control plane,
    or if another version of the sandbox wrote it in another format.
    """
    try:
        document: dict[str, Any] = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        token = token_file(folder).read_text(encoding="utf-8").partition(",")[0]
        if document["format"] != _FORMAT:
            raise ValueError(f"format {document['format']}")
        return ControlPlane(
            folder=folder,
            minor=document["minor"],
            version=document["version"],
            ports=Ports(**document["ports"]),
            token=token,
            components=tuple(document["components"]),
        )
    except FileNotFoundError as error:
        raise ControlPlaneError(
            f"{folder} doesn't contain a control plane; run `pulumi-dra sandbox up`"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ControlPlaneError(
            f"{folder} remains from another sandbox version or an interrupted run ({error}); run "
            "`pulumi-dra sandbox down`"
        ) from error


def serving_certificate(folder: Path) -> Path:
    """Path of the API server's certificate."""
    return folder / "serving.crt"


def serving_key(folder: Path) -> Path:
    """Path of the certificate's key."""
    return folder / "serving.key"


def token_file(folder: Path) -> Path:
    """Path of the API server's token list, which contains one token."""
    return folder / "tokens.csv"
