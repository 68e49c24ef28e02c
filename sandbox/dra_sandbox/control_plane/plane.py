"""What is known of a control plane: what it was started with, and where in its folder everything
lies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dra_sandbox.control_plane.problems import ControlPlaneError

COMPONENTS: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
)
"""The processes of a control plane, in the order in which they start."""

SERVERS: Final = COMPONENTS[:2]
"""Those that need no kubeconfig: the others sign in to them."""

_FORMAT: Final = 2
_RECORD: Final = "control-plane.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What to start: a Kubernetes minor, feature gates (others as released), and whether pods are
    scheduled at all.

    `tolerates_extended_resources`: as managed clouds do, the API server lets pods tolerate the
    taints of the extended resources that they request. Without `scheduling` there are only etcd and
    the API server, and reads are answered by etcd itself.
    """

    minor: int
    gates: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    scheduling: bool = True
    tolerates_extended_resources: bool = False

    @property
    def components(self) -> tuple[str, ...]:
        """The processes to start."""
        return COMPONENTS if self.scheduling else SERVERS


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the servers listen, all on 127.0.0.1."""

    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A control plane that was started in `folder`: its minor, the release of its API server, its
    ports, its token.
    """

    folder: Path
    minor: int
    version: str
    ports: Ports
    token: str = field(repr=False)
    components: tuple[str, ...] = COMPONENTS

    @property
    def server(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.ports.api_server}"

    @property
    def certificate(self) -> Path:
        """The certificate that the API server shows; it is signed by itself."""
        return serving_certificate(self.folder)

    @property
    def kubeconfig(self) -> Path:
        """The file that kubectl and the components of the control plane sign in with."""
        return self.folder / "kubeconfig"

    def log(self, component: str) -> Path:
        """Where a component writes."""
        return self.folder / "logs" / f"{component}.log"

    def write(self) -> None:
        """Keep everything but the token, which has a file of its own, in the folder."""
        document = {"format": _FORMAT, **asdict(self), "folder": str(self.folder)}
        del document["token"]
        (self.folder / _RECORD).write_text(json.dumps(document, indent=2), encoding="utf-8")


def is_kept(folder: Path) -> bool:
    """Whether a control plane was started in `folder`, and not stopped; its processes may have died
    since.
    """
    return (folder / _RECORD).is_file()


def read_plane(folder: Path) -> ControlPlane:
    """Return the control plane that was started in `folder`.

    Raises ControlPlaneError where there is none, or where another release of the sandbox has left
    something else.
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
            f"there is no control plane in {folder}: run `pulumi-dra sandbox up`"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ControlPlaneError(
            f"{folder} was left by another version of the sandbox, or by an interrupted one "
            f"({error}): run `pulumi-dra sandbox down`"
        ) from error


def serving_certificate(folder: Path) -> Path:
    """The certificate of the API server."""
    return folder / "serving.crt"


def serving_key(folder: Path) -> Path:
    """The key of that certificate."""
    return folder / "serving.key"


def token_file(folder: Path) -> Path:
    """The API server's list of tokens; it holds one."""
    return folder / "tokens.csv"
