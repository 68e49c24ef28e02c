"""Why a pod fits or not, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from dra_command.formats.page import Page
from dra_command.formats.plan_report import VERDICT_AFTER_A_NAME
from dra_planner.model import Reason
from dra_planner.plan.explaining import WhatIf
from dra_planner.plan.explaining_pods import PodExplanation, PoolForPod
from dra_planner.wording import counted

_STYLES: Final = {"fits": "green", "does-not-fit": "red", "cannot-tell": "yellow"}
_MOST_NAMES: Final = 6


def print_pods(
    pods: Sequence[PodExplanation], asked: WhatIf | None = None, *, quiet: bool = False, file: TextIO | None = None
) -> None:
    """Print the explanations; pools that say the same are told together. `quiet` leaves the verdicts."""
    with Page(file) as page:
        for number, pod in enumerate(pods):
            if number:
                page.gap()
            _print_pod(page, pod, asked, quiet=quiet)


def _print_pod(page: Page, pod: PodExplanation, asked: WhatIf | None, *, quiet: bool) -> None:
    which = f" ({pod.pod_set})" if pod.pod_set else ""
    verdict = (VERDICT_AFTER_A_NAME[pod.verdict], f"bold {_STYLES[pod.verdict]}")
    page.line((f"pod {pod.pod}", "bold"), f" of {pod.workload}{which} ", verdict)
    if asked is not None:
        page.line(f"with {', '.join(asked.changes)}; without it {VERDICT_AFTER_A_NAME[asked.verdict_before]}")
    if quiet:
        return
    page.text(f"{pod.placed} of {counted(pod.placed + pod.pending, 'pod')} of the workload placed", indent=2)
    if any(edit.is_conditional for pool in pod.pools for edit in pool.edits):
        _print_missing(page, pod)
    for pools in _together(pod.pools):
        page.gap()
        first = pools[0]
        kind = "node" if pod.is_observed else "pool"
        machine = f" ({first.machine})" if first.machine else ""
        title = f"{kind}{'s' if len(pools) > 1 else ''} {_names(pools)}"
        page.line((title, "bold"), f"{machine} ", (VERDICT_AFTER_A_NAME[first.verdict], _STYLES[first.verdict]))
        for indent, text, mark in _lines(first):
            page.text(text, indent=indent, mark=mark)
    if not any(edit.is_conditional for pool in pod.pools for edit in pool.edits):
        _print_missing(page, pod)
    _print_pending(page, pod)
    if pod.claims:
        page.gap()
        page.text(f"term by term: explain --claim {pod.claims[0]}", mark="→ ")


def _print_missing(page: Page, pod: PodExplanation) -> None:
    if pod.missing is not None:
        page.gap()
        page.line((pod.missing.message, "bold"))
        page.text(pod.missing.fix, indent=2, mark="→ ")


def _print_pending(page: Page, pod: PodExplanation) -> None:
    if not pod.pending_reasons:
        return
    page.gap()
    if pod.pools:
        page.line(("a node takes it, but the pools are too small for all", "bold"))
    for reason in pod.pending_reasons:
        for indent, text, mark in _of_reason(reason):
            page.text(text, indent=indent, mark=mark)
    for holder in pod.holders:
        page.text(f"{holder.workload} has {counted(holder.pods, 'pod')} on {holder.pool}", indent=2, mark="· ")


def _together(pools: Sequence[PoolForPod]) -> list[list[PoolForPod]]:
    told: dict[tuple[object, ...], list[PoolForPod]] = {}
    for pool in pools:
        said = tuple(text.replace(pool.pool, "") for _, text, _ in _lines(pool))
        told.setdefault((pool.machine, pool.verdict, said), []).append(pool)
    return list(told.values())


def _names(pools: Sequence[PoolForPod]) -> str:
    names = [pool.pool for pool in pools]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _lines(pool: PoolForPod) -> Iterator[tuple[int, str, str]]:
    """Yield what a node of the pool says, as (indent, text, mark)."""
    for request in dict.fromkeys(name for name, _ in pool.devices):
        got = ", ".join(device for name, device in pool.devices if name == request)
        yield 2, f"{request} gets {got}", "✓ "
    for reason in pool.reasons:
        yield 2, reason.message, "✗ "
        if reason.fix and not pool.edits:
            yield 4, reason.fix, "→ "
    if len(pool.edits) == 1:
        yield 2, f"smallest change with which it fits: {pool.edits[0]}", "→ "
    elif pool.edits:
        yield 2, "smallest set of changes with which it fits, all of them together:", "→ "
        for number, edit in enumerate(pool.edits, 1):
            yield 4, str(edit), f"{number}. "


def _of_reason(reason: Reason) -> Iterator[tuple[int, str, str]]:
    yield 2, reason.message, ""
    if reason.fix:
        yield 4, reason.fix, "→ "
