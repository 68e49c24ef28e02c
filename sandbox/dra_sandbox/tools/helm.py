"""Find Helm, which renders charts: version 3 from PATH, or built from its Go module."""

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
_MAJOR = 3  # the major version that pulumi-kubernetes uses
_ELSEWHERE = ("HELM_KUBE", "HELM_NAMESPACE", "HELM_DRIVER", "KUBECONFIG")


def find_helm() -> Path:
    """Return the Helm command, and build it if necessary. Raises ToolUnavailable if it can't be
    built.
    """
    return helm_at_hand() or build(HELM)


def helm_at_hand() -> Path | None:
    """Return the Helm command if it's on PATH or already built, or None."""
    on_path = shutil.which(HELM.name)
    if on_path is not None:
        version = printed_version([on_path, "version", "--short"])
        if version is not None and version[0] == _MAJOR:
            return Path(on_path)
    return HELM.binary if HELM.binary.is_file() else None


def helm_environment() -> dict[str, str]:
    """Return the environment for Helm, without variables that select a different cluster than the
    given kubeconfig.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(_ELSEWHERE)}
