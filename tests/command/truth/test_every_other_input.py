"""The commands agree about every input of `other_corpora`, and have a reason for every exit status
other than 0.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from agreement import SharedPlan, disagreements
from corpora import Input
from other_corpora import other_inputs

EVERY = {each.name: each for each in other_inputs()}


@pytest.mark.long
@pytest.mark.parametrize("given", EVERY.values(), ids=EVERY)
def test_commands_agree(given: Input, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(disagreements(given, tmp_path, SharedPlan(monkeypatch))) == []


def test_names_are_unique() -> None:
    assert len(EVERY) == len(list(other_inputs()))


@pytest.mark.parametrize("name", ["recorded/74", "preemptions/1.35-7"])
def test_commands_agree_about_inputs_that_once_differed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quota had spaces around an amount. The scheduler's choices decided about a pod."""
    monkeypatch.chdir(tmp_path)
    assert list(disagreements(EVERY[name], tmp_path, SharedPlan(monkeypatch))) == []
