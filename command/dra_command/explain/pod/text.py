"""The reasons why a pod fits or doesn't fit, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from dra_command.claim_report.joint_fix import print_joint_fix
from dra_command.explain.pool_lines import (
    POOLS_TOO_SMALL,
    Line,
    edit_lines,
    print_lines,
    print_title,
    print_what_if,
    reason_lines,
)
from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.verdict_words import explained_verdict
from dra_planner.plan.explanation.claims import WhatIf
from dra_planner.plan.explanation.pods import PodExplanation, PoolForPod
from dra_planner.wording import counted


def print_pods(
    pods: Sequence[PodExplanation],
    what_if: WhatIf | None = None,
    *,
    quiet: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print the explanations. Pools with the same answer are grouped. `quiet` prints only the
    verdicts.
    """
    with Page(file) as page:
        for number, pod in enumerate(pods):
            if number:
                page.gap()
            _print_pod(page, pod, what_if, quiet=quiet)


def _print_pod(page: Page, pod: PodExplanation, what_if: WhatIf | None, *, quiet: bool) -> None:
    which = f" ({pod.pod_set})" if pod.pod_set else ""
    words = explained_verdict(pod.verdict, stalls=pod.stalls)
    verdict = (words, f"bold {VERDICT_STYLES[pod.verdict]}")
    page.line((f"pod {pod.pod}", "bold"), f" of {pod.workload}{which} ", verdict)
    print_what_if(page, what_if)
    if quiet:
        return
    if pod.placed or pod.pending:
        page.text(_placed(pod), indent=2)
    if any(edit.is_conditional for pool in pod.pools for edit in pool.edits):
        _print_missing(page, pod)
    with_fixes = pod.verdict != "fits"
    for pools in _together(pod.pools):
        page.gap()
        print_title(page, pools, is_observed=pod.is_observed)
        print_lines(page, _lines(pools[0], with_fixes=with_fixes))
    if not any(edit.is_conditional for pool in pod.pools for edit in pool.edits):
        _print_missing(page, pod)
    _print_pending(page, pod)
    if pod.blockers:
        page.gap()
        print_lines(page, reason_lines(pod.blockers))
    print_joint_fix(page, pod.joint_fix)


def _placed(pod: PodExplanation) -> str:
    """Return how many pods have a node. Other causes can prevent such pods from running."""
    pods = f"{pod.placed} of {counted(pod.placed + pod.pending, 'pod')} of the workload"
    if pod.pending or pod.verdict == "fits":
        return f"{pods} placed"
    return f"the packing has nodes for {pods}"


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
        page.line((POOLS_TOO_SMALL, "bold"))
    print_lines(page, reason_lines(pod.pending_reasons))
    for holder in pod.holders:
        page.text(
            f"{holder.workload} has {counted(holder.pods, 'pod')} on {holder.pool}",
            indent=2,
            mark="· ",
        )


def _together(pools: Sequence[PoolForPod]) -> list[list[PoolForPod]]:
    groups: dict[tuple[object, ...], list[PoolForPod]] = {}
    for pool in pools:
        texts = tuple(line.text.replace(pool.pool, "") for line in _lines(pool))
        groups.setdefault((pool.machine, pool.verdict, texts), []).append(pool)
    return list(groups.values())


def _lines(pool: PoolForPod, *, with_fixes: bool = True) -> Iterator[Line]:
    """Yield the lines about a node of the pool, with its fixes on request."""
    for request in dict.fromkeys(name for name, _ in pool.devices):
        got = ", ".join(device for name, device in pool.devices if name == request)
        yield Line(2, f"{request} gets {got}", "✓ ")
    for reason in pool.reasons:
        yield Line(2, reason.text, "✕ ")
        if with_fixes and reason.fix and not pool.edits:
            yield Line(4, reason.fix, "→ ")
    yield from edit_lines(pool.edits if with_fixes else ())
