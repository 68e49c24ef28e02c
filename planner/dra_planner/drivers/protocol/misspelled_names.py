"""Recognize misspelled names of DeviceClasses and drivers, label by label.

Names of different drivers differ by only a few letters (npu.example.com, gpu.example.com), so the
similarity of whole names isn't enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher, get_close_matches
from typing import Final

_WHOLE: Final = 0.8  # minimum similarity of whole names
_LABEL: Final = 0.8  # minimum similarity of two labels
_SHORT: Final = 3  # most letters of a label that other letters turn into another word
_SEPARATOR: Final = re.compile(r"[.-]")


def intended_name(name: str, known: Collection[str]) -> str:
    """Return the known name that a name misspells, or "" if there is none."""
    near = [] if name in known else get_close_matches(name, sorted(known), 3, _WHOLE)
    return next((each for each in near if is_misspelling(name, each)), "")


def is_misspelling(name: str, known: str) -> bool:
    """Return whether every label of a name misspells, or is equal to, the same label of a known
    name. The last labels of one name can be missing.
    """
    labels = zip(_SEPARATOR.split(name), _SEPARATOR.split(known), strict=False)
    return name != known and all(_is_near(*each) for each in labels)


def _is_near(label: str, known: str) -> bool:
    if sorted(label) == sorted(known):
        return True
    is_another_word = len(label) == len(known) <= _SHORT
    return not is_another_word and SequenceMatcher(None, label, known).ratio() >= _LABEL
