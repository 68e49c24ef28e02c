"""Find tools on PATH, or build them from pinned Go modules.

All built tools are in the per-user cache, each in a folder for its name, version, and set of pins.
"""

from __future__ import annotations

from dra_sandbox.tools.go_module import GoTool, ToolUnavailable, build
from dra_sandbox.tools.pulumi_cli import PulumiCli, find_pulumi
from dra_sandbox.tools.yaml_host import find_yaml_host

__all__ = ["GoTool", "PulumiCli", "ToolUnavailable", "build", "find_pulumi", "find_yaml_host"]
