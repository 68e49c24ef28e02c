"""The commands agree about every input of `corpora`, and have a reason for every exit status other
than 0.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agreement import SharedPlan, contradictions, disagreements
from commands import Answer
from corpora import Input, inputs

EVERY = {each.name: each for each in inputs()}


@pytest.mark.long
@pytest.mark.parametrize("given", EVERY.values(), ids=EVERY)
def test_commands_agree(given: Input, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(disagreements(given, tmp_path, SharedPlan(monkeypatch))) == []


def answer(status: int, verdict: str, *found: dict[str, str]) -> Answer:
    output: dict[str, Any] = {"verdict": verdict, "diagnostics": list(found)}
    return Answer(status, json.dumps(output), "", 0)


ERROR = {"severity": "error", "code": "claim-fits-no-pool", "message": "the claim fits no pool"}


def test_a_plan_that_fits_contradicts_an_error_of_check() -> None:
    fits, fails = answer(0, "fits"), answer(1, "does-not-fit", ERROR)
    assert len(list(contradictions(fits, fails))) == 1
    assert len(list(contradictions(fails, fits))) == 1
    assert list(contradictions(fails, fails)) == []
    assert list(contradictions(fits, fits)) == []


def test_a_status_without_a_reason_is_found() -> None:
    silent = answer(1, "does-not-fit")
    found = list(contradictions(silent, silent))
    assert [each.partition(":")[0] for each in found] == [
        "plan ends with 1 without a reason",
        "check ends with 1 without a reason",
        "plan doesn't fit, but check doesn't report an error",
    ]


def test_a_status_that_differs_from_the_verdict_is_found() -> None:
    assert list(contradictions(answer(0, "cannot-tell"), answer(0, "fits"))) != []


@pytest.mark.parametrize("name", ["daemon-set-matches-no-node", "rollout-makes-new-pods-first"])
def test_claims_of_running_clusters_are_explained_like_the_plan(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = EVERY[f"running_clusters/{name}"]
    assert list(disagreements(given, tmp_path, SharedPlan(monkeypatch))) == []
