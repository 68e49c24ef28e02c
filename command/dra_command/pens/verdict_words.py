"""The three verdicts in words, and rollouts that never finish although all pods fit."""

from __future__ import annotations

from dra_planner.model import Verdict
from dra_planner.wording import counted, verb

VERDICT_WORDS: dict[Verdict, str] = {
    "fits": "fits",
    "does-not-fit": "does not fit",
    "cannot-tell": "cannot tell",
}
VERDICT_AFTER_A_NAME: dict[Verdict, str] = {**VERDICT_WORDS, "cannot-tell": "can't be evaluated"}


def headline_verdict(verdict: Verdict, *, stalls: bool) -> Verdict:
    """Return the verdict whose sign and color a headline has.

    If all pods fit, but a rollout never finishes, the exit status is 1, so the headline has the
    sign of a failure. The verdict stays *fits*.
    """
    return "does-not-fit" if stalls and verdict == "fits" else verdict


def stalls_in_words(number: int) -> str:
    """Return how many rollouts never finish, for example "1 rollout never finishes"."""
    return f"{counted(number, 'rollout')} never {verb(number, 'finish')}"
