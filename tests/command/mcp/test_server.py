"""`pulumi-dra mcp`, driven by the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from command_project import EXAMPLES, Project

pytest.importorskip("mcp")

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from dra_command.mcp.confinement import Confinement, NotAllowedHere
from dra_command.mcp.invocation import Invocation, NotAllowed
from dra_command.mcp.server import make_server

pytestmark = pytest.mark.programs

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.35"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.12.0}}
pools: [{name: l4, machine: g6.2xlarge, count: {max: 2}}]
"""


def call_tools(root: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:
    """Return the names of the server's tools, and the answers of some calls."""

    async def talk() -> tuple[list[str], list[Any]]:
        words = ["-m", "dra_command", "mcp", "--root", str(root)]
        server = StdioServerParameters(command=sys.executable, args=words)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            return tools, [await session.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(talk())


def data(answer: Any) -> Any:
    return json.loads(answer.content[0].text)


def test_descriptions_of_tools_are_not_indented(tmp_path: Path) -> None:
    tools = asyncio.run(make_server(tmp_path, "1.0.0").list_tools())
    assert tools
    assert [tool.name for tool in tools if not tool.description or "\n " in tool.description] == []


def test_agent_can_plan_and_list_the_catalog(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("claim.yaml", (EXAMPLES / "workloads" / "two-pods.yaml").read_text())

    tools, (plan, catalog) = call_tools(
        project.root,
        ("plan", {"paths": ["claim.yaml"], "fleet": "fleet.yaml"}),
        ("catalog", {"topic": "machines", "words": ["g6.2xlarge"]}),
    )

    assert {"plan", "check", "explain", "what_if", "suggest", "catalog", "migrate"} <= set(tools)
    assert (data(plan)["verdict"], data(plan)["exitStatus"]) == ("fits", 0)
    assert "g6.2xlarge" in json.dumps(data(catalog))


def test_hostile_arguments_are_rejected_and_the_server_continues(project: Project) -> None:
    project.write("claim.yaml", "kind: Nothing\n")

    _, answers = call_tools(
        project.root,
        ("plan", {"paths": ["../../etc/passwd"]}),
        ("plan", {"paths": ["/etc/passwd"]}),
        ("plan", {"paths": ["nope.yaml"]}),
        ("plan", {"paths": ["claim.yaml"], "fleet": "nope.yaml"}),
        ("check", {"paths": ["claim.yaml"], "kubernetes": "--write"}),
        ("check", {"paths": ["claim.yaml"], "kubernetes": "1" * 10_000}),
        ("check", {"paths": ["claim.yaml"]}),
    )

    outside, absolute, absent, no_fleet, option, long, last = answers
    assert all("nope.yaml doesn't exist" in each.content[0].text for each in (absent, no_fleet))
    assert outside.is_error
    assert "is outside the folder that this server may read" in outside.content[0].text
    assert absolute.is_error
    assert data(option)["exitStatus"] == 2
    assert long.is_error
    assert not last.is_error


def call(folder: Path, command: str, *paths: str, **options: str) -> dict[str, Any]:
    return Invocation(folder.resolve()).answer(command, paths, options)


def test_stack_with_a_shared_fleet_uses_no_network(project: Project) -> None:
    fleet = "git+https://example.invalid/a/b.git@main#fleet.yaml"
    project.write("stacks/Pulumi.far.yaml", f"config: {{pulumi-dra:fleet: '{fleet}'}}\n")

    answer = call(project.root, "plan", "./workloads", stack="far")

    assert answer["exitStatus"] == 2
    assert "this server doesn't start git" in answer["error"]["message"]


def test_stack_reads_nothing_outside_the_folder(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "stacks", outside):
        folder.mkdir(parents=True)
        (folder / "fleet.yaml").write_text(FLEET)
    (outside / "claim.yaml").write_text((EXAMPLES / "workloads" / "two-pods.yaml").read_text())
    (root / "link").symlink_to(outside)
    config = {"pulumi-dra:fleet": "stacks/fleet.yaml", "pulumi-dra:workloads": ["link"]}
    (root / "stacks" / "Pulumi.dev.yaml").write_text(json.dumps({"config": config}))

    linked = call(root, "plan", stack="dev")
    unknown = call(root, "plan", stack="dev/../../outside")

    assert (linked["exitStatus"], linked["error"]["file"]) == (2, "link")
    assert "internal error" not in linked["error"]["message"]
    assert (unknown["exitStatus"], "doesn't exist" in unknown["error"]["message"]) == (2, True)


REJECTED = {
    "a file above": ("open", "../secret.yaml", "r", 0),
    "a linked file": ("open", "link/secret.yaml", "r", 0),
    "a device": ("open", "/dev/zero", "rb", 0),
    "a descriptor's flags": ("open", "fleet.yaml", None, os.O_WRONLY),
    "a file to write": ("open", "fleet.yaml", "w", 0),
    "a folder above": ("os.scandir", ".."),
    "a listing": ("os.listdir", "link"),
    "a connection": ("socket.connect", None, ("127.0.0.1", 443)),
    "a host's address": ("socket.getaddrinfo", "example.invalid", 443, 0, 0, 0),
    "a fetch": ("subprocess.Popen", "git", ["git", "fetch", "--", "file:///", "main"], None, None),
    "a cluster": ("subprocess.Popen", "kubectl", ["kubectl", "get", "pods"], None, None),
    "a shell": ("subprocess.Popen", "/bin/sh", ["/bin/sh", "-c", "kustomize build"], None, None),
}
ALLOWED = {
    "a file": ("open", "fleet.yaml", "r", 0),
    "a folder": ("os.scandir", "."),
    "a module": ("open", json.__file__, "rb", 0),
    "a chart": ("subprocess.Popen", "helm", ["/bin/helm", "template", "x", "x"], None, None),
}


@pytest.fixture
def confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Confinement:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    monkeypatch.chdir(root)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    return Confinement(root)


@pytest.mark.parametrize("case", REJECTED)
def test_access_outside_the_folder_is_rejected(case: str, confined: Confinement) -> None:
    event, *arguments = REJECTED[case]
    with pytest.raises(NotAllowedHere):
        confined(event, tuple(arguments))


@pytest.mark.parametrize("case", ALLOWED)
def test_access_inside_the_folder_is_allowed(case: str, confined: Confinement) -> None:
    event, *arguments = ALLOWED[case]
    confined(event, tuple(arguments))


def test_kustomization_is_built_without_running_local_modules(project: Project) -> None:
    for name in ("argparse.py", "yaml.py", "dra_command.py"):
        project.write(name, "raise SystemExit('replaced')\n")
    project.write("overlay/kustomization.yaml", "resources: [claim.yaml]\nnamespace: red\n")
    project.write("overlay/claim.yaml", (EXAMPLES / "workloads" / "two-pods.yaml").read_text())
    project.write("fleet.yaml", FLEET)

    answer = call(project.root, "plan", "./overlay", fleet="fleet.yaml")

    assert answer["exitStatus"] == 0, answer


@pytest.mark.parametrize("paths", [["x"] * 201, ["x" * 5_000]], ids=["many paths", "a long path"])
def test_call_has_limits_for_arguments(paths: list[str], tmp_path: Path) -> None:
    with pytest.raises(NotAllowed):
        Invocation(tmp_path.resolve()).answer("catalog", paths, {})


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\0b", "link", "missing.yaml"])
def test_no_path_leads_outside(path: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(NotAllowed):
        Invocation(tmp_path.resolve()).path(path)


def test_path_that_looks_like_an_option_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "--write").write_text("")

    assert Invocation(tmp_path.resolve()).path("--write") == "./--write"


def test_server_does_not_start_without_its_folder(project: Project) -> None:
    done = project.run("mcp", "--root", "missing")

    assert done.status == 2
    assert "--root" in done.err


def test_fix_for_a_root_that_is_not_a_folder_works(project: Project) -> None:
    project.write("claim.yaml", "kind: Nothing\n")

    wrong = project.run_apart(
        "mcp", "--root", "claim.yaml", stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    right = project.run_apart(
        "mcp", "--root", ".", stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    assert wrong.returncode == 2
    assert (
        "claim.yaml isn't a folder; set --root to the folder of your manifests and fleets"
        in str(wrong.stderr)
    )
    assert right.returncode == 0, right.stderr


def test_fix_for_a_timeout_works(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Invocation(project.root.resolve())
    monkeypatch.setattr("dra_command.mcp.invocation.SECONDS", 0.01)
    with pytest.raises(
        TimeoutError, match=r"the command took more than 0\.01 s; pass fewer manifests"
    ):
        call.answer("check", ["./workloads"], {})
    monkeypatch.setattr("dra_command.mcp.invocation.SECONDS", 120)
    assert call.answer("check", ["./workloads/two-pods.yaml"], {})["exitStatus"] == 0
