"""The signs in text reports that represent nodes, devices, and verdicts, with and without UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:  # the catalog tables don't need verdicts
    from dra_planner.model import Verdict


class Signs(Struct, frozen=True, kw_only=True):
    """One sign for each kind of thing. `eighths` are the ends of bars that represent many nodes, or
    () if bars don't have such ends.
    """

    fits: str
    does_not_fit: str
    cannot_tell: str
    bound: str
    simulated: str
    allowed: str
    beyond: str
    free: str
    stranded: str
    eighths: str

    def of(self, verdict: Verdict) -> str:
        """Return the sign of a verdict."""
        return {
            "fits": self.fits,
            "does-not-fit": self.does_not_fit,
            "cannot-tell": self.cannot_tell,
        }[verdict]


DRAWN: Final = Signs(
    fits="✓",
    does_not_fit="✕",
    cannot_tell="?",
    bound="█",
    simulated="▓",
    allowed="░",
    beyond="✕",
    free="░",
    stranded="▒",
    eighths="▏▎▍▌▋▊▉",
)
TYPED: Final = Signs(
    fits="ok",
    does_not_fit="no",
    cannot_tell="?",
    bound="#",
    simulated="+",
    allowed=".",
    beyond="x",
    free=".",
    stranded="/",
    eighths="",
)
_TYPED: Final = str.maketrans(
    {
        "─": "-",
        "–": "-",
        "—": "-",
        "→": ">",
        "·": "|",
        "×": "x",
        "−": "-",
        "≤": "<",
        "≥": ">",
        "…": "~",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "✓": "+",
        "✕": "x",
        "█": "#",
        "▓": "+",
        "░": ".",
        "▒": "/",
    }
)


def typed(text: str, encoding: str) -> str:
    """Return text that an output with this encoding can display. Replacements of our own signs have
    the same width.
    """
    return text.translate(_TYPED).encode(encoding, errors="backslashreplace").decode(encoding)
