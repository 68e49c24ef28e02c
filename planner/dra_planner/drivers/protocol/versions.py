"""Versions of the charts that drivers are installed from."""

from __future__ import annotations

import re


def chart_version_fault(text: str) -> str:
    """Return why a text cannot be the version of a chart that no table lists, or ""; "" stands for
    the default.
    """
    return (
        ""
        if re.fullmatch(r"|\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", text)
        else f'"{text}" is not a version (1.0.0)'
    )
