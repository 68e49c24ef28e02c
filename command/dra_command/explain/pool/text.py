"""The use of a pool for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from dra_command.explain.pool_lines import print_lines, reason_lines
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.verdict_words import stalls_in_words
from dra_planner.plan.explanation.pools import PoolReport, PoolUse, PublishedDevices
from dra_planner.wording import counted

_VERDICT_WORDS: Final = {
    "fits": "fits all workloads that can run in it",
    "does-not-fit": "is too small for the workloads that can run in it",
    "cannot-tell": "might be too small for the workloads that can run in it",
}
_OTHER_REASON: Final = {
    "does-not-fit": "is large enough, but a workload can't run for another reason",
    "cannot-tell": "is large enough, but it's unknown whether all workloads can run",
}
_MOST_DEVICES: Final = 6


def print_pool(
    report: PoolReport,
    changes: Sequence[str] = (),
    *,
    quiet: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print the report. `quiet` prints only its first line."""
    pool = report.pool
    with Page(file) as page:
        kind = "node" if report.is_observed else "pool"
        machine = f" ({pool.machine})" if pool.machine else ""
        if report.lost:
            sentence = f"no longer fits {counted(len(report.lost), 'workload')}"
            result = (sentence, f"bold {VERDICT_STYLES[report.verdict]}")
        elif report.takes or report.could_take:
            result = (_verdict_words(report), f"bold {VERDICT_STYLES[report.verdict]}")
        else:
            result = ("isn't needed by any workload", "bold")
        page.line((f"{kind} {pool.name}", "bold"), f"{machine} ", result)
        if changes:
            page.line(f"with {', '.join(changes)}")
        if quiet:
            return
        if not report.is_observed:
            page.text(_counts(report), indent=2)
        page.text(f"a node publishes {_published(report.published)}", indent=2)
        _print_uses(page, "runs here", report.takes)
        _print_uses(page, "could run on this pool", report.could_take)
        _print_uses(page, "can't run on this pool", report.refuses)
        print_lines(page, reason_lines(report.doubts))


def _verdict_words(report: PoolReport) -> str:
    if report.has_pending_pods:
        return _VERDICT_WORDS[report.verdict]
    if report.stalled:
        return f"{_VERDICT_WORDS['fits']}, but {stalls_in_words(len(report.stalled))}"
    return _OTHER_REASON.get(report.verdict, _VERDICT_WORDS["fits"])


def _counts(report: PoolReport) -> str:
    pool, devices = report.pool, report.pool.devices
    simulated = "" if pool.simulated is None else f", simulated {pool.simulated}"
    used = f"; {devices.used} of {counted(devices.total, 'device')} used" if devices.total else ""
    stranded = f", {devices.stranded} stranded" if devices.stranded else ""
    nodes = f"{pool.recommended} of at most {counted(pool.maximum, 'node')}"
    return f"{nodes}: bound {pool.bound}, packing {pool.packing}{simulated}{used}{stranded}"


def _published(published: Iterable[PublishedDevices]) -> str:
    counts = [
        f"{each.devices} × {each.name or f'a device of {each.driver}'}"
        + (f" ({each.memory})" if each.memory else "")
        for each in published
    ]
    more = f", and {len(counts) - _MOST_DEVICES} more kinds" if len(counts) > _MOST_DEVICES else ""
    return f"{', '.join(counts[:_MOST_DEVICES])}{more}" if counts else "no device"


def _print_uses(page: Page, title: str, uses: Sequence[PoolUse]) -> None:
    if not uses:
        return
    page.gap()
    page.line((title, "bold"))
    for use in uses:
        pods = f": {counted(use.here, 'pod')}" if use.here else ""
        pending = f", {use.pending} pending" if use.pending else ""
        other = f", on {', '.join(use.elsewhere)}" if use.elsewhere else ""
        page.text(f"{use.workload}{pods}{other}{pending}", indent=2)
        for reason in use.reasons:
            page.text(reason.text, indent=4)
            if reason.fix:
                page.text(reason.fix, indent=6, mark="→ ")
