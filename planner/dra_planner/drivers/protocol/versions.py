"""Versions of charts that install drivers."""

from __future__ import annotations

import re


def chart_version_fault(text: str) -> str:
    """Return why a text can't be the version of an unknown chart, or "".

    An empty version means the default.
    """
    return (
        ""
        if re.fullmatch(r"|\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", text)
        else f'"{text}" isn\'t a version such as 1.0.0'
    )
