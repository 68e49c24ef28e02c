"""Find Pulumi's own language host for YAML programs: next to the CLI, on PATH, or built from its
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
    """Return the YAML host, which Pulumi's installer puts next to its CLI. Raises ToolUnavailable
    if it's missing and can't be built.
    """
    on_path = shutil.which(YAML_HOST.name)
    return Path(on_path) if on_path is not None else build(YAML_HOST)
