"""The three verdicts in words, and the number of rollouts that never finish."""

from __future__ import annotations

from dra_planner.model import Verdict
from dra_planner.wording import counted, verb

VERDICT_WORDS: dict[Verdict, str] = {
    "fits": "fits",
    "does-not-fit": "does not fit",
    "cannot-tell": "cannot tell",
}
VERDICT_AFTER_A_NAME: dict[Verdict, str] = {**VERDICT_WORDS, "cannot-tell": "can't be evaluated"}


def explained_verdict(verdict: Verdict, *, stalls: bool) -> str:
    """Return the verdict of a pod or claim after its name. With `stalls`, the pods run, but a
    rollout never finishes.
    """
    return "fits, but a rollout never finishes" if stalls else VERDICT_AFTER_A_NAME[verdict]


def stalls_in_words(number: int) -> str:
    """Return how many rollouts never finish, for example "1 rollout never finishes"."""
    return f"{counted(number, 'rollout')} never {verb(number, 'finish')}"
