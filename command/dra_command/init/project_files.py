"""The files of a Pulumi project that builds stacks from plan files: program, dependencies, policy
pack, settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.installation import installed_from
from dra_command.command_line.yaml_text import yaml_text
from dra_command.init.install_source import requirement_of
from dra_command.init.requirements import add_requirement
from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.package_version import semantic_version

_PROJECT: Final = """\
name: {name}
description: A Kubernetes cluster with GPU pools for Dynamic Resource Allocation, sized by a plan.
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: .venv
stackConfigDir: stacks
"""

_PROGRAM: Final = '''\
"""Build the cluster and the pools of the stack's plan file (stacks/STACK.plan.json)."""

from pathlib import Path

import pulumi

from pulumi_dra import DraPlatform
from pulumi_dra.platform.stack_settings import read_program_settings

settings = read_program_settings(Path(__file__).parent)
platform = DraPlatform("dra", settings.platform)

pulumi.export("clusterName", platform.cluster_name)
pulumi.export("kubeconfig", platform.kubeconfig_json)
pulumi.export("verdict", platform.verdict)
pulumi.export("poolMaxNodes", platform.pool_max_nodes)
'''

_PACK: Final = """\
description: Fails if a stack's claims don't fit its pools, before Pulumi creates any resources.
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: ../.venv
version: {version}
"""

_PACK_PROGRAM: Final = '''\
"""Serve the rules of the installed package to the Pulumi engine."""

from dra_policies.pack import serve_pack

serve_pack()
'''

_IGNORED: Final = """\
.venv/
__pycache__/
"""
MERGED: Final = (".gitignore", "requirements.txt")
"""Files that a repository might already contain."""
_STACK_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def check_stack_name(name: str) -> str:
    """Return the name of a stack. Raises UsageError if Pulumi would reject it."""
    if not _STACK_NAME.fullmatch(name):
        raise UsageError(
            f'--stack: "{name}" isn\'t a valid stack name',
            fix="use at most 100 letters, digits, hyphens, underscores, and periods",
        )
    return name


def project_files(folder: Path, fleet: Fleet, install: str = "") -> dict[str, str]:
    """Return the files that all stacks of the project in a folder share, by path. If a file in
    `MERGED` already exists, its text is kept. `install` is the requirement that pip installs. The
    default is the source in the project's requirements or, in a new project, the source of this
    installation.
    """
    name = _NOT_IN_A_NAME.sub("-", folder.resolve().name).strip("-.")[:100] or "gpus"
    ignored, required = (folder / each for each in MERGED)
    return {
        "Pulumi.yaml": _PROJECT.format(name=name),
        "__main__.py": _PROGRAM,
        "policies/PulumiPolicy.yaml": _PACK.format(version=semantic_version(version("pulumi-dra"))),
        "policies/__main__.py": _PACK_PROGRAM,
        ignored.name: ignored.read_text(encoding="utf-8") if ignored.is_file() else _IGNORED,
        required.name: add_requirement(
            required.read_text(encoding="utf-8") if required.is_file() else "",
            requirement_of(install, folder) if install else installed_from(),
            (cloud(fleet.cloud).sdk_extra, "policy"),
            replaces=bool(install),
        ),
    }


def account_settings(fleet: Fleet) -> Mapping[str, str]:
    """Return the stack settings that depend on the cloud account, with their meaning. A fleet
    doesn't contain them.
    """
    return cloud(fleet.cloud).account_settings


def stack_settings(
    fleet: Fleet, fleet_file: str, workloads: Sequence[str], cluster: str = ""
) -> str:
    """Return the settings of a stack whose fleet is a file of the project. `cluster` is the name of
    its cluster; by default, Pulumi generates one.
    """
    config: dict[str, Any] = {cloud(fleet.cloud).region_setting: fleet.region}
    config |= dict.fromkeys(account_settings(fleet), "SET-THIS")
    config |= {"pulumi-dra:workloads": list(workloads), "pulumi-dra:fleet": fleet_file}
    if cluster:
        config["pulumi-dra:platform"] = {"cluster": {"clusterName": cluster}}
    return yaml_text({"config": config})
