"""The tools that agents see. All of them only read files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from dra_command.mcp.invocation import Invocation, NotAllowed

_Tool = TypeVar("_Tool", bound=Callable[..., dict[str, Any]])

_INSTRUCTIONS = """\
Check whether Kubernetes ResourceClaims (Dynamic Resource Allocation) run on planned GPU node pools, how many nodes \
the pools need, and what these nodes cost. Start with `plan`; call `explain` for a claim or pod that doesn't fit. A \
verdict is fits, does-not-fit, or cannot-tell; cannot-tell lists the unknown facts. Paths are relative to the server's \
root folder. The tools don't change anything.
"""
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def make_server(root: Path, version: str) -> MCPServer[Any]:
    """Return the server that reads files below `root`."""
    server: MCPServer[Any] = MCPServer(
        "pulumi-dra", instructions=_INSTRUCTIONS, version=version, log_level="ERROR"
    )
    run = Invocation(root)
    _add_plan_tools(server, run)
    _add_other_tools(server, run)
    return server


def _tool(server: MCPServer[Any]) -> Callable[[_Tool], _Tool]:
    """Return a decorator that adds a tool, whose errors tell the agent what isn't allowed."""

    def add(function: _Tool) -> _Tool:
        @wraps(function)
        def call(*args: Any, **options: Any) -> dict[str, Any]:
            try:
                return function(*args, **options)
            except (NotAllowed, TimeoutError) as error:
                raise ToolError(str(error)) from None

        server.tool(description=getdoc(function), annotations=_READS)(call)
        return function

    return add


def _add_plan_tools(server: MCPServer[Any], run: Invocation) -> None:
    """Add the tools that evaluate manifests on pools."""

    @_tool(server)
    def plan(
        paths: list[str], fleet: str = "", stack: str = "", kubernetes: str = ""
    ) -> dict[str, Any]:
        """Plan manifests on the pools of a fleet file or stack: verdict, nodes per pool, cost,
        reasons, and fixes.
        """
        return run.answer("plan", run.paths(paths), _capacity(run, fleet, stack, kubernetes))

    @_tool(server)
    def check(
        paths: list[str], fleet: str = "", stack: str = "", kubernetes: str = ""
    ) -> dict[str, Any]:
        """Check manifests for errors, with fixes. A fleet or stack adds the rules that need
        pools.
        """
        return run.answer("check", run.paths(paths), _capacity(run, fleet, stack, kubernetes))

    @_tool(server)
    def explain(
        paths: list[str],
        claim: str = "",
        pod: str = "",
        pool: str = "",
        fleet: str = "",
        stack: str = "",
    ) -> dict[str, Any]:
        """Explain why a claim or pod (NAMESPACE/NAME) fits or doesn't fit on each pool, or list the
        workloads that run on a pool.
        """
        options = {"claim": claim, "pod": pod, "pool": pool, **_capacity(run, fleet, stack, "")}
        return run.answer("explain", run.paths(paths), options)

    @_tool(server)
    def what_if(
        paths: list[str], claim: str, change: str, fleet: str = "", stack: str = ""
    ) -> dict[str, Any]:
        """Explain a claim with one value of the fleet changed, such as `pools.l4.count.max=8`."""
        options = {"claim": claim, "what-if": change, **_capacity(run, fleet, stack, "")}
        return run.answer("explain", run.paths(paths), options)


def _add_other_tools(server: MCPServer[Any], run: Invocation) -> None:
    """Add the tools that choose machine types, rewrite workloads, and look up facts."""

    @_tool(server)
    def suggest(
        paths: list[str], region: str, kubernetes: str = "", machines: str = ""
    ) -> dict[str, Any]:
        """Suggest the cheapest machine types of a region that run the manifests, as a fleet
        document.
        """
        options = {"region": region, "kubernetes": kubernetes, "machines": machines}
        return run.answer("suggest", run.paths(paths), options)

    @_tool(server)
    def migrate(paths: list[str], fleet: str = "", kubernetes: str = "") -> dict[str, Any]:
        """Show how workloads that request devices of a device plugin would request claims, as
        diffs.
        """
        return run.answer("migrate", run.paths(paths), _capacity(run, fleet, "", kubernetes))

    @_tool(server)
    def catalog(
        topic: Literal["machines", "gpus", "mig", "drivers", "releases"], words: list[str]
    ) -> dict[str, Any]:
        """List machine types, GPUs, MIG configurations, drivers, or Kubernetes versions whose row
        has the words.
        """
        return run.answer(
            "catalog", [topic, *(word for word in words if not word.startswith("-"))], {}
        )


def _capacity(run: Invocation, fleet: str, stack: str, kubernetes: str) -> dict[str, str]:
    return {"fleet": run.path(fleet) if fleet else "", "stack": stack, "kubernetes": kubernetes}
