"""The three verdicts in words."""

from __future__ import annotations

from dra_planner.model import Verdict

VERDICT_WORDS: dict[Verdict, str] = {
    "fits": "fits",
    "does-not-fit": "does not fit",
    "cannot-tell": "cannot tell",
}
VERDICT_AFTER_A_NAME: dict[Verdict, str] = {**VERDICT_WORDS, "cannot-tell": "can't be evaluated"}
