"""Results of pools for a claim or a pod, as lines that both explanations share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME, VERDICT_WORDS
from dra_planner.allocation.reasons.edits import REMOVING, Edit
from dra_planner.model import Reason, Verdict
from dra_planner.plan.explanation.claims import WhatIf
from dra_planner.wording import noun

_MOST_NAMES = 6
POOLS_TOO_SMALL = "the pod fits on a node, but not all pods fit in the pools at the same time"


class Line(NamedTuple):
    """One paragraph of the tree, printed after its `mark`. Its first `code` characters are an
    expression.
    """

    indent: int
    text: str
    mark: str = ""
    code: int = 0


class ExplainedPool(Protocol):
    """A pool, or a node of a snapshot, with its verdict."""

    @property
    def pool(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...


def print_what_if(page: Page, what_if: WhatIf | None) -> None:
    """Print the changes of the fleet, and the verdict without them."""
    if what_if is not None:
        page.line(what_if_sentence(what_if))


def what_if_sentence(what_if: WhatIf) -> str:
    """Return the changes of the fleet, and the verdict without them."""
    change = noun(len(what_if.changes), "change")
    these = f"this {change}" if len(what_if.changes) == 1 else f"these {change}"
    return (
        f"with {', '.join(what_if.changes)}; without {these}, the result is: "
        f"{VERDICT_WORDS[what_if.verdict_before]}"
    )


def print_title(
    page: Page, pools: Sequence[ExplainedPool], *, is_observed: bool, every: bool = False
) -> None:
    """Print the names of pools with the same answer (only six unless `every`), with their
    verdict.
    """
    names, first = [pool.pool for pool in pools], pools[0]
    shown = names if every else names[:_MOST_NAMES]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    machine = f" ({first.machine})" if first.machine else ""
    title = f"{noun(len(pools), 'node' if is_observed else 'pool')} {', '.join(shown)}{more}"
    verdict = (VERDICT_AFTER_A_NAME[first.verdict], VERDICT_STYLES[first.verdict])
    page.line((title, "bold"), f"{machine} ", verdict)


def edit_lines(edits: Sequence[Edit]) -> Iterator[Line]:
    """Yield the smallest change that makes the claim or pod fit: a single change, or a list of
    changes.
    """
    removes = any(edit.kind in REMOVING for edit in edits)
    but = " (removes a requirement of the pod)" if removes else ""
    if len(edits) == 1:
        yield Line(2, f"smallest change that makes the pod fit{but}: {edits[0]}", "→ ")
    elif edits:
        heading = f"smallest set of changes found that makes the pod fit{but}:"
        yield Line(2, heading, "→ ")
        for number, edit in enumerate(edits, 1):
            yield Line(4, str(edit), f"{number}. ")


def reason_lines(reasons: Iterable[Reason]) -> Iterator[Line]:
    """Yield reasons, each with its fix."""
    for reason in reasons:
        yield Line(2, reason.text)
        if reason.fix:
            yield Line(4, reason.fix, "→ ")


def print_lines(page: Page, lines: Iterable[Line]) -> None:
    """Print the paragraphs."""
    for line in lines:
        page.text(line.text, indent=line.indent, mark=line.mark)
