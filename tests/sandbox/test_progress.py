"""The progress that a long step prints to a pipe and to a terminal."""

from __future__ import annotations

import io
import re
import time

import pytest

from dra_sandbox import progress
from dra_sandbox.progress import step


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_the_start_regular_updates_and_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "_PLAIN_INTERVAL_SECONDS", 0.01)
    out = io.StringIO()

    with step("building", out) as running:
        running.news = "3 packages"
        while "3 packages" not in out.getvalue():
            time.sleep(0.01)

    lines = out.getvalue().splitlines()
    assert lines[0] == "building …"
    assert re.fullmatch(r"  … building, 3 packages, \d+ s", lines[-2])
    assert re.fullmatch(r"building: done in \d+ s", lines[-1])


def test_an_interrupt_is_reported_and_raised_again() -> None:
    out = io.StringIO()

    with pytest.raises(KeyboardInterrupt), step("building", out):
        raise KeyboardInterrupt

    assert out.getvalue().splitlines()[-1].startswith("building: stopped after ")


def test_a_terminal_shows_only_one_line() -> None:
    out = Terminal()

    with step("building", out):
        pass

    assert out.getvalue().endswith("building: done in 0 s\n")
