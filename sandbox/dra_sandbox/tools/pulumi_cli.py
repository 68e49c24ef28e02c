"""Find the Pulumi CLI, which is also the engine: on PATH if it's recent enough, or built from its
modules.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec import Struct

from dra_sandbox.tools.go_module import GoTool, build
from dra_sandbox.tools.versions import parse_version, printed_version

LANGUAGE_HOST = "pulumi-language-python"

PULUMI = GoTool(
    name="pulumi",
    pins="pulumi",
    module="github.com/pulumi/pulumi/pkg/v3",
    package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    tags=("osusergo",),
    # The engine compares and prints its version with the leading "v".
    stamps={"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v{version}"},
)


class PulumiCli(Struct, frozen=True):
    """A usable CLI: its `binary`, its `version`, and whether it includes Pulumi's own Python
    language host.
    """

    binary: Path
    version: str
    has_language_host: bool


def find_pulumi() -> PulumiCli:
    """Return the CLI to use.

    A CLI on PATH must be at least as new as the one that would be built, because older engines lack
    commands that the sandbox runs (`policy analyze --file`). Raises ToolUnavailable if the CLI is
    missing and can't be built.
    """
    minimum = parse_version(PULUMI.version)
    on_path = shutil.which("pulumi")
    if on_path is not None and minimum is not None:
        version = printed_version([on_path, "version"])
        if version is not None and version >= minimum:
            binary = Path(on_path)
            # The engine searches for the host on PATH, and then in the folder of its own
            # executable.
            host = (
                shutil.which(LANGUAGE_HOST) is not None
                or (binary.resolve().parent / LANGUAGE_HOST).is_file()
            )
            return PulumiCli(binary, ".".join(map(str, version)), host)
    return PulumiCli(build(PULUMI), PULUMI.version, has_language_host=False)
