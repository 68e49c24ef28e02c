"""The text report of a running cluster: devices, users, lost pods, and further changes."""

from __future__ import annotations

from collections.abc import Mapping

from dra_command.migrate.text import STYLES
from dra_command.pens.terminal.page import Page
from dra_planner.migration import Result
from dra_planner.migration.cluster import ClusterReport, DeviceUser, results
from dra_planner.wording import counted, verb

_ALLOCATORS = {
    "device-plugin": "device plugin",
    "dra": "DRA driver",
    "both": "both",
    "none": "none",
}
_MOST = 5


def print_cluster(report: ClusterReport, *, quiet: bool, verbose: bool) -> None:
    """Print the report. `quiet` prints only problems."""
    with Page() as page:
        page.text(_headline(report))
        _print_contested(page, report)
        if not quiet:
            _print_pools(page, report)
        _print_users(page, report, quiet=quiet, verbose=verbose)
        _print_losses(page, report, verbose=verbose)
        if quiet:
            return
        for change in report.changes:
            page.gap()
            page.text(f"{change.object}: {change.what.splitlines()[0]}", mark="to change: ")
        for note in report.notes:
            page.gap()
            page.text(note, mark="note: ")


def _headline(report: ClusterReport) -> str:
    plugin = [each for each in report.users if not each.by_claims]
    claims = [each for each in report.users if each.by_claims]
    if not report.users:
        return "No pod uses devices."
    parts = (
        [f"{counted(len(plugin), 'workload')} {verb(len(plugin), 'use')} device plugins"]
        if plugin
        else []
    )
    parts += (
        [f"{counted(len(claims), 'workload')} {verb(len(claims), 'use')} claims"] if claims else []
    )
    found = results(plugin)
    counts = [f"{found[result]} {result}" for result in Result if found[result]]
    return " and ".join(parts) + (f": {', '.join(counts)}." if counts else ".")


def _print_contested(page: Page, report: ClusterReport) -> None:
    if report.contested:
        page.gap()
        names = report.contested
        shown = ", ".join(names[:_MOST]) + (
            f", and {len(names) - _MOST} more" if len(names) > _MOST else ""
        )
        page.text(
            f"A device plugin and a DRA driver allocate the same devices on {shown}, so two pods "
            "can get the same device. Drain the nodes, and remove either the device plugin or the "
            "driver from them.",
            mark="✕ ",
        )


def _print_pools(page: Page, report: ClusterReport) -> None:
    if not report.pools:
        return
    page.gap()
    rows = [
        (
            pool.name,
            str(pool.nodes),
            _ALLOCATORS[pool.allocator],
            _units(pool.offered),
            _units(pool.held),
            str(pool.published or ""),
            str(pool.claimed or ""),
        )
        for pool in report.pools
    ]
    heads = ("Pool", "nodes", "allocator", "offered", "held by pods", "published", "claimed")
    page.table(heads, rows, numbers=(1, 5, 6))


def _print_users(page: Page, report: ClusterReport, *, quiet: bool, verbose: bool) -> None:
    rows = [each for each in report.users if not quiet]
    if rows:
        page.gap()
        page.table(
            ("Workload", "pods", "pending", "units", "nodes", "result"),
            [
                (each.workload, str(each.pods), str(each.waiting or ""), _units(each.units), str(len(each.nodes)),
                 _result(each))
                for each in rows
            ],
            numbers=(1, 2, 4),
        )  # fmt: skip
    for each in report.users:
        outcome = each.outcome
        if outcome is None or not outcome.reason or (quiet and outcome.result is not Result.CANNOT):
            continue
        page.gap()
        page.line(f"{each.workload}: ", (outcome.result.value, STYLES[outcome.result]))
        page.text(outcome.reason, indent=4)
        for alternative in outcome.alternatives if verbose else outcome.alternatives[:2]:
            page.text(alternative, indent=4, mark="→ ")


def _print_losses(page: Page, report: ClusterReport, *, verbose: bool) -> None:
    if not report.losses:
        return
    page.gap()
    page.text(
        f"{counted(len(report.losses), 'pod')} {verb(len(report.losses), 'need')} a change before "
        "you drain a node:"
    )
    shown = report.losses if verbose else report.losses[: 2 * _MOST]
    for each in shown:
        page.text(
            f"Pod {each.pod}{f' on {each.node}' if each.node else ''}: {each.reason}", indent=2
        )
        page.text(each.fix, indent=4, mark="→ ")
    if len(shown) < len(report.losses):
        page.text(f"{len(report.losses) - len(shown)} more (--verbose shows them)", indent=2)


def _units(units: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(units.items()))


def _result(user: DeviceUser) -> str:
    if user.by_claims:
        return "uses claims"
    return user.outcome.result.value if user.outcome is not None else ""
