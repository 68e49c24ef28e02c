"""`catalog` on a terminal that is narrower than its table."""

from __future__ import annotations

import io
import re
import sys

import pytest

from dra_command.__main__ import main


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    """Return the lines about version 0.5.0 on a terminal with this width, without colors."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    main(["catalog", "drivers", "0.5.0"])
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()


def test_rows_that_fit_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    head, _, row = shown(monkeypatch, 500)
    assert head.startswith("version  released")
    assert row.startswith("0.5.0    2026")


def test_wider_rows_are_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    title, *facts = shown(monkeypatch, 80)
    assert title.split()[0] == "0.5.0"
    assert max(map(len, facts)) <= 80
    words = " ".join(" ".join(facts).split())
    assert words.startswith("chart: dra-driver-nvidia-gpu · installable: yes · ")
    assert words.endswith("ConsumableShares · extended_resource: yes")
