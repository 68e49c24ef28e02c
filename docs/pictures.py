"""Pictures of the README and the guide, made of runs: what a terminal shows, and the devices of a plan.

`python docs/pictures.py` writes them; they hold no date and no random id, so that a fresh one is the same file.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from dra_command.__main__ import main as command
from dra_command.pens.html.style import DARK, LIGHT

ROOT = Path(__file__).parents[1]
SHOWN = ("plan", "examples/eighty-gi", "--fleet", "examples/eighty-gi/fleet.yaml")
DRAWN = {"docs/guide/devices.svg": ("plan", "--stack", "eks-dev", "--quiet")}
COLUMNS = 80
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # nothing is loaded from elsewhere


def terminal(tokens: dict[str, str]) -> TerminalTheme:
    """Return the colours of the reports as those of a terminal."""

    def rgb(name: str) -> tuple[int, int, int]:
        red, green, blue = (int(tokens[name][at : at + 2], 16) for at in (1, 3, 5))
        return red, green, blue

    named = ("ink", "bad", "ok", "doubt", "link", "link", "link", "soft")
    return TerminalTheme(rgb("sheet"), rgb("ink"), [rgb(name) for name in named], [rgb(name) for name in named])


def in_colours(words: tuple[str, ...]) -> str:
    """Return what a command prints on a terminal with colours."""
    out = io.StringIO()
    environment = {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "COLORTERM": "", "TERM": "xterm"}
    with (
        contextlib.chdir(ROOT),
        patch.dict(os.environ, environment),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        os.environ.pop("NO_COLOR", None)
        command(words)
    return out.getvalue()


def terminal_picture(words: tuple[str, ...], tokens: dict[str, str]) -> str:
    """Return the picture of a terminal in which the command was run, as SVG that loads nothing."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(Text.from_ansi(in_colours(words)), soft_wrap=False)
    title = f"pulumi-dra {' '.join(words[:2])} …"
    drawn = console.export_svg(title=title, theme=terminal(tokens), unique_id="terminal", font_aspect_ratio=0.61)
    drawn = re.sub(r" *<!--.*?-->\n", "", drawn)  # where it comes from
    return FONTS.sub("", drawn).replace("Fira Code", "ui-monospace").rstrip() + "\n"


def main() -> None:
    """Write every picture."""
    for name, tokens in (("light", LIGHT), ("dark", DARK)):
        path = ROOT / "docs" / f"plan-{name}.svg"
        path.write_text(terminal_picture(SHOWN, tokens), encoding="utf-8")
    for target, words in DRAWN.items():
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()):
            command((*words, "--picture", target))


if __name__ == "__main__":
    sys.exit(main())
