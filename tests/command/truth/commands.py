"""Runs commands in this process, and returns exit status, JSON or text, and CPU time."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from msgspec import Struct

from dra_command.__main__ import main
from dra_planner.sizing import sizing

STATUSES = {"fits": 0, "does-not-fit": 1, "cannot-tell": 3}


class Answer(Struct, frozen=True):
    """The output of a command, `text` including standard error. `seconds` is its CPU time."""

    status: int
    output: str
    text: str
    seconds: float

    @property
    def json(self) -> dict[str, Any]:
        """The answer as JSON."""
        found: dict[str, Any] = json.loads(self.output)
        return found

    @property
    def line(self) -> str:
        """The text in one line, so that wrapping doesn't matter."""
        return " ".join(self.text.split())


def run(*words: str) -> Answer:
    """Run a command and return its answer."""
    out, err = io.StringIO(), io.StringIO()
    before = time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except SystemExit as stop:
            status = int(stop.code or 0)
    output = out.getvalue()
    return Answer(status, output, output + err.getvalue(), time.process_time() - before)


@contextlib.contextmanager
def without_solver(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Size fleets as in an installation without the `solver` extra."""
    with patch.context() as inside:
        inside.setattr(sizing, "load_solver", lambda: None)
        yield


def errors(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the codes of the findings that are errors."""
    return [each["code"] for each in found if each["severity"] == "error"]
