"""`pulumi-dra mcp`, driven by the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_project import EXAMPLES, Project

pytest.importorskip("mcp")

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from dra_command.mcp.invocation import Invocation, NotAllowed

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.35"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.12.0}}
pools: [{name: l4, machine: g6.2xlarge, count: {max: 2}}]
"""


def asked(root: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:
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


def test_an_agent_plans_and_explains(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("claim.yaml", (EXAMPLES / "workloads" / "two-pods.yaml").read_text())

    tools, (plan, catalog) = asked(
        project.root,
        ("plan", {"paths": ["claim.yaml"], "fleet": "fleet.yaml"}),
        ("catalog", {"topic": "machines", "words": ["g6.2xlarge"]}),
    )

    assert {"plan", "check", "explain", "what_if", "suggest", "catalog", "migrate"} <= set(tools)
    assert (data(plan)["verdict"], data(plan)["exitStatus"]) == ("fits", 0)
    assert "g6.2xlarge" in json.dumps(data(catalog))


def test_hostile_arguments_are_rejected_and_the_server_goes_on(project: Project) -> None:
    project.write("claim.yaml", "kind: Nothing\n")

    _, answers = asked(
        project.root,
        ("plan", {"paths": ["../../etc/passwd"]}),
        ("plan", {"paths": ["/etc/passwd"]}),
        ("check", {"paths": ["claim.yaml"], "kubernetes": "--write"}),
        ("check", {"paths": ["claim.yaml"], "kubernetes": "1" * 10_000}),
        ("check", {"paths": ["claim.yaml"]}),
    )

    outside, absolute, option, long, last = answers
    assert outside.is_error
    assert absolute.is_error
    assert data(option)["exitStatus"] == 2
    assert long.is_error
    assert not last.is_error


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\0b", "link", "missing.yaml"])
def test_no_path_leads_outside(path: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(NotAllowed):
        Invocation(tmp_path.resolve()).path(path)


def test_a_path_that_looks_like_an_option_stays_a_path(tmp_path: Path) -> None:
    (tmp_path / "--write").write_text("")

    assert Invocation(tmp_path.resolve()).path("--write") == "./--write"


def test_without_the_folder_the_server_does_not_start(project: Project) -> None:
    done = project.run("mcp", "--root", "missing")

    assert done.status == 2
    assert "--root" in done.err


def test_a_root_that_is_no_folder_is_replaced_as_the_fix_says(project: Project) -> None:
    project.write("claim.yaml", "kind: Nothing\n")

    wrong = project.run_apart(
        "mcp", "--root", "claim.yaml", stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    right = project.run_apart(
        "mcp", "--root", ".", stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    assert wrong.returncode == 2
    assert "claim.yaml isn't a folder; give --root the folder of your manifests and fleets" in str(
        wrong.stderr
    )
    assert right.returncode == 0, right.stderr


def test_an_answer_in_time_needs_fewer_manifests_as_the_fix_says(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Invocation(project.root.resolve())
    monkeypatch.setattr("dra_command.mcp.invocation.SECONDS", 0.01)
    with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s: name fewer manifests"):
        call.answer("check", ["./workloads"], {})
    monkeypatch.setattr("dra_command.mcp.invocation.SECONDS", 120)
    assert call.answer("check", ["./workloads/two-pods.yaml"], {})["exitStatus"] == 0
