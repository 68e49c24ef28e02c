"""The vendor's language host for YAML programs: beside the CLI or on PATH, else built from its
module.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from dra_sandbox.tools.go_module import GoTool, build

YAML_HOST = GoTool(
    name="pulumi-language-yaml",
    pins="yaml",
    module="github.com/pulumi/pulumi-yaml",
    package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    stamps={"github.com/pulumi/pulumi-yaml/pkg/version.Version": "v{version}"},
)


def find_yaml_host() -> Path:
    """The host, which the vendor's installer puts beside its CLI.

    Raises ToolUnavailable when there is none and it cannot be built.
    """
    on_path = shutil.which(YAML_HOST.name)
    return Path(on_path) if on_path is not None else build(YAML_HOST)
