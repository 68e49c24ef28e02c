"""The referee: recorded clusters of a real control plane, and the same simulated."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from rehearsals import Comparison, case_names, compare

GOLDEN = Path(__file__).parent / "golden" / "rehearsals.md"


@cache
def comparisons() -> tuple[Comparison, ...]:
    return tuple(each for name in case_names() for each in compare(name))


def of(arrival: str) -> list[Comparison]:
    return [each for each in comparisons() if each.arrival == arrival]


def test_every_case_is_compared():
    assert len(case_names()) == 49
    assert len(comparisons()) == 100


@pytest.mark.parametrize(
    ("arrival", "share"), [("settled", 95), ("at-once", 95), ("settled-reversed", 95)]
)
def test_counts_per_workload_match_the_scheduler(arrival, share):
    compared = of(arrival)
    agreed = [each for each in compared if each.counts_agree]
    assert len(agreed) * 100 >= share * len(compared)


@pytest.mark.parametrize("arrival", ["settled", "at-once", "settled-reversed"])
def test_pods_are_in_the_recorded_pool(arrival):
    compared = of(arrival)
    assert sum(each.in_right_pool for each in compared) * 100 >= 97 * sum(
        each.pods for each in compared
    )


def test_no_pod_is_wrongly_reported_as_pending():
    """If the scheduler placed all pods, the simulation leaves no pods pending."""
    for each in of("settled"):
        if not any(counts.pending for counts in each.recorded.values()):
            assert not any(counts.pending for counts in each.simulated.values()), each.case


def test_no_pending_pod_is_missed():
    """If the scheduler left pods pending, the simulation also leaves pods pending."""
    for each in of("settled"):
        if any(counts.pending for counts in each.recorded.values()):
            assert any(counts.pending for counts in each.simulated.values()), each.case


def test_differences_match_the_golden_file():
    """After a change on purpose: REWRITE_GOLDEN=1, and read the difference."""
    text = table()
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


HEAD = (
    "Each recorded run beside the nearest of 17 simulated ones: one without chance, and 16 seeds, "
    "which break ties "
    "between nodes and decide how pods that are made at the same time arrive."
)
REASONS = {
    "at-once": "controllers race, and the claims of pods are made by several workers at once",
    "settled-reversed": "templates came after the pods that need them, so pods waited, and entered "
    "together",
    "settled": "not explained",
}


def table() -> str:
    lines = ["# Recorded and simulated placements", "", HEAD, ""]
    lines.append("| Arrival | Runs | Counts agree | Pods | In the right pool |")
    lines.append("| --- | --- | --- | --- | --- |")
    for arrival in REASONS:
        compared = of(arrival)
        agreed, right = (
            sum(each.counts_agree for each in compared),
            sum(each.in_right_pool for each in compared),
        )
        lines.append(
            f"| {arrival} | {len(compared)} | {agreed} | {sum(each.pods for each in compared)} | "
            f"{right} |"
        )
    lines += ["", "## What differs, and why", ""]
    for arrival, reason in REASONS.items():
        differing = [
            each for each in of(arrival) if each.in_right_pool != each.pods or not each.counts_agree
        ]
        if differing:
            lines += [f"{arrival}: {reason}.", ""]
        for each in differing:
            lines += [f"- {each.case}"]
            for name, counts in sorted(each.recorded.items()):
                if counts != each.simulated[name]:
                    lines.append(f"  - {name}: recorded {counts}; simulated {each.simulated[name]}")
        if differing:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"
