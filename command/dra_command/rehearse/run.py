"""`pulumi-dra rehearse`: run a plan on the real scheduler, with the package dra_sandbox."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dra_command.command_line.arguments import UsageError, require_sandbox
from dra_command.command_line.exit_status import status_of
from dra_command.inputs.command_inputs import print_skipped_files, read_inputs
from dra_planner.clouds import cloud
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import parse_version
from dra_planner.sources import Source
from dra_planner.wording import counted

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.control_plane import Settings
    from dra_sandbox.rehearsal import Comparison


def run(values: argparse.Namespace) -> int:
    """Plan, rehearse the plan, and print both results side by side. Return 0 if every pod has a
    node, 1 if some are pending, and 3 if a difference is unexplained or the time ran out.
    """
    require_sandbox("a rehearsal", "psutil", "cryptography")
    if values.context and not values.kubeconfig:
        raise UsageError("--context needs a kubeconfig", fix="add --kubeconfig FILE")
    inputs = read_inputs(values, needs_capacity=True)
    print_skipped_files(inputs.left_alone, quiet=values.quiet)
    if values.migration:
        from dra_command.rehearse.migration import rehearse_migration

        return rehearse_migration(values, inputs)
    plan = make_plan(
        PlanRequest(
            sources=inputs.sources,
            fleet=inputs.fleet,
            kubernetes=inputs.kubernetes,
            paths=inputs.paths,
        )
    )
    found = _rehearse(plan, inputs.sources, values)
    _print(found, values)
    from dra_command.rehearse.summary import verdict_of

    return status_of(verdict_of(found), allow_unknown=values.allow_unknown)


def _rehearse(plan: Plan, sources: tuple[Source, ...], values: argparse.Namespace) -> Comparison:
    from dra_sandbox.control_plane import ApiRejection, ControlPlaneError, control_plane
    from dra_sandbox.progress import step
    from dra_sandbox.rehearsal import (
        NotThrowAway,
        RehearsalRequest,
        RehearsalScenario,
        UnknownSubject,
        WorkloadOrder,
        borrowed_cluster,
        rehearse,
    )
    from dra_sandbox.tools import ToolUnavailable
    from dra_sandbox.tools.kubernetes import find_binaries

    try:
        order = WorkloadOrder.parse(values.order)
        scenarios = tuple(map(RehearsalScenario.parse, values.scenario))
    except ValueError as error:
        raise UsageError(str(error)) from error
    minor = parse_version(plan.kubernetes)
    request = RehearsalRequest(
        plan=plan,
        sources=sources,
        order=order,
        one_by_one=values.one_by_one,
        within_seconds=values.time_limit,
        scenarios=scenarios,
    )
    nodes = sum(pool.nodes.desired for pool in plan.pools)
    size = counted(nodes, "GPU node")
    try:
        if values.kubeconfig:
            with (
                step(f"rehearsing on the cluster of {values.kubeconfig}, {size}"),
                borrowed_cluster(Path(values.kubeconfig), values.context, minor) as where,
            ):
                return rehearse(where, request)
        binaries = find_binaries(minor, Path(values.binaries) if values.binaries else None)
        title = f"rehearsing on Kubernetes {binaries.version}, {size}"
        with step(title), control_plane(_settings(plan, minor), binaries) as plane:
            return rehearse(plane, request)
    except (UnknownSubject, NotThrowAway) as error:
        raise UsageError(str(error)) from error
    except (ToolUnavailable, ControlPlaneError, ApiRejection) as error:
        raise UsageError(f"the plan can't be rehearsed: {error}") from error


def _settings(plan: Plan, minor: int) -> Settings:
    """Return a control plane that admits pods as the plan's cloud does."""
    from dra_sandbox.control_plane import Settings

    tolerates = plan.fleet is not None and cloud(plan.fleet.cloud).tolerates_extended_resources
    if plan.fleet is None:
        return Settings(minor, tolerates_extended_resources=tolerates)
    return Settings(
        minor,
        gates=plan.fleet.feature_gates,
        served=plan.fleet.features_at(minor).served,
        tolerates_extended_resources=tolerates,
    )


def _print(found: Comparison, values: argparse.Namespace) -> None:
    match values.format:
        case "json":
            from dra_command.rehearse.json import rehearse_json

            print(rehearse_json(found))
        case "markdown":
            from dra_command.rehearse.markdown import rehearse_markdown

            print(rehearse_markdown(found), end="")
        case "html":
            from dra_command.rehearse.html import rehearse_html

            print(rehearse_html(found), end="")
        case _:
            from dra_command.rehearse.text import print_rehearsal

            print_rehearsal(found, quiet=values.quiet)
