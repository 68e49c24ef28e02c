"""Helm, which renders charts as releases are: from PATH when it is of version 3, else built from
its module.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dra_sandbox.tools.go_module import GoTool, build
from dra_sandbox.tools.versions import printed_version

HELM = GoTool(
    name="helm",
    pins="helm",
    module="helm.sh/helm/v3",
    package="helm.sh/helm/v3/cmd/helm",
    stamps={"helm.sh/helm/v3/internal/version.version": "v{version}"},
    minutes=4,
)
_MAJOR = 3  # what pulumi-kubernetes renders its releases with
_ELSEWHERE = ("HELM_KUBE", "HELM_NAMESPACE", "HELM_DRIVER", "KUBECONFIG")


def find_helm() -> Path:
    """The command, built where there is none. Raises ToolUnavailable when it cannot be built."""
    return helm_at_hand() or build(HELM)


def helm_at_hand() -> Path | None:
    """The command where it is there already: on PATH, or built earlier."""
    on_path = shutil.which(HELM.name)
    if on_path is not None:
        version = printed_version([on_path, "version", "--short"])
        if version is not None and version[0] == _MAJOR:
            return Path(on_path)
    return HELM.binary if HELM.binary.is_file() else None


def helm_environment() -> dict[str, str]:
    """The environment without what would lead Helm to another cluster than that of the kubeconfig
    it is given.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(_ELSEWHERE)}
