"""Find the binaries of a control plane: in a folder of the user, on PATH if they have the right
minor version, or built from their modules.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_planner.releases import RELEASES
from dra_sandbox.tools.go_module import GoTool, ToolUnavailable, build
from dra_sandbox.tools.versions import printed_version

MODULES: Final = {each: f"kubernetes-{release.version}" for each, release in RELEASES.items()}
"""Folder of `modules/` that pins the control plane of each supported minor version."""

_VERSION: Final = "k8s.io/component-base/version"
_MINUTES: Final = {"kube-apiserver": 6, "kube-scheduler": 1, "kube-controller-manager": 3}
_OLDEST_ETCD: Final = (3, 5, 0)

ETCD: Final = GoTool(
    name="etcd",
    pins="etcd",
    module="go.etcd.io/etcd/server/v3",
    package="go.etcd.io/etcd/server/v3",
    minutes=1,
)


BINARIES: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


class Binaries(Struct, frozen=True):
    """The commands of one control plane by name, and the version of its API server, such as
    "1.36.3".
    """

    version: str
    paths: Mapping[str, Path]


def find_binaries(
    minor: int, folder: Path | None = None, names: Iterable[str] = BINARIES
) -> Binaries:
    """Return the binaries of Kubernetes 1.<minor>.

    If `folder` is set, they are in this folder. Otherwise, they are on PATH with this minor
    version, or in the per-user cache, and are built if necessary. `names` are the binaries to find.
    Raises ToolUnavailable if `folder` lacks one or contains another minor version, and if one can't
    be built.
    """
    found = {
        name: _etcd(folder) if name == "etcd" else _kubernetes(name, minor, folder)
        for name in names
    }
    return Binaries(found["kube-apiserver"][1], {name: path for name, (path, _) in found.items()})


def kubernetes(command: str, minor: int) -> GoTool:
    """Return a command of Kubernetes 1.<minor>.

    The linker writes the version into the binary, because the modules don't contain it. Raises
    ToolUnavailable for a minor version that no module pins.
    """
    pins = MODULES.get(minor)
    if pins is None:
        known = ", ".join(release.version for release in RELEASES.values())
        raise ToolUnavailable(
            f"{command} 1.{minor} isn't on PATH and can't be built, because the sandbox builds "
            f"only {known}. Put the four 1.{minor} binaries in a folder, and pass the folder with "
            "--binaries"
        )
    return GoTool(
        name=command,
        pins=pins,
        module="k8s.io/kubernetes",
        package=f"k8s.io/kubernetes/cmd/{command}",
        stamps={
            f"{_VERSION}.gitVersion": "v{version}",
            f"{_VERSION}.gitMajor": "1",
            f"{_VERSION}.gitMinor": str(minor),
            f"{_VERSION}.gitTreeState": "clean",
        },
        minutes=_MINUTES[command],
    )


def _kubernetes(command: str, minor: int, folder: Path | None) -> tuple[Path, str]:
    """Return a command of the minor version, and its full version."""
    if folder is not None:
        binary = _in_folder(folder, command)
        version = printed_version([str(binary), "--version"])
        if version is None or version[:2] != (1, minor):
            found = f"has version {_text(version)}" if version else "doesn't print a version"
            raise ToolUnavailable(f"{binary} {found}, but {command} 1.{minor} is needed")
        return binary, _text(version)
    on_path = shutil.which(command)
    if on_path is not None:
        version = printed_version([on_path, "--version"])
        if version is not None and version[:2] == (1, minor):
            return Path(on_path), _text(version)
    tool = kubernetes(command, minor)
    return build(tool), tool.version


def _etcd(folder: Path | None) -> tuple[Path, str]:
    """Return etcd and its version. Versions before 3.5 on PATH are skipped."""
    if folder is not None:
        return _in_folder(folder, "etcd"), ""
    on_path = shutil.which("etcd")
    if on_path is not None:
        version = printed_version([on_path, "--version"])
        if version is not None and version >= _OLDEST_ETCD:
            return Path(on_path), _text(version)
    return build(ETCD), ETCD.version


def _in_folder(folder: Path, command: str) -> Path:
    found = shutil.which(command, path=str(folder))
    if found is None:
        raise ToolUnavailable(
            f"{folder} doesn't contain the executable {command}; add it to the folder, or remove "
            "--binaries"
        )
    return Path(found)


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
