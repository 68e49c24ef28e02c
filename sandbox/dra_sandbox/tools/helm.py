"""Helm, which renders charts as releases are: from PATH when it is of version 3, else built from its module."""

from __future__ import annotations

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


def find_helm() -> Path:
    """The command. Raises ToolUnavailable when there is none and it cannot be built."""
    on_path = shutil.which(HELM.name)
    if on_path is not None:
        version = printed_version([on_path, "version", "--short"])
        if version is not None and version[0] == _MAJOR:
            return Path(on_path)
    return build(HELM)
