"""Exit statuses, so that a script doesn't need to parse the output."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

from dra_planner.errors import FILE_NOT_READ, Diagnostic


class Status(IntEnum):
    """0: all workloads fit. 1: a workload doesn't fit, or an object violates a rule. 2: the input
    is invalid. 3: cannot tell.
    """

    FITS = 0
    BROKEN = 1
    WRONG_INPUT = 2
    CANNOT_TELL = 3
    INTERRUPTED = 130


def status_of(
    verdict: Literal["fits", "does-not-fit", "cannot-tell"],
    findings: Iterable[Diagnostic] = (),
    *,
    allow_unknown: bool,
) -> Status:
    """Return the exit status for a verdict, which already takes errors among the findings into
    account. If a finding reports a file that can't be read, the input is invalid, and no option
    accepts it.
    """
    if has_unreadable(findings):
        return Status.WRONG_INPUT
    if verdict == "does-not-fit":
        return Status.BROKEN
    if verdict == "cannot-tell" and not allow_unknown:
        return Status.CANNOT_TELL
    return Status.FITS


def has_unreadable(findings: Iterable[Diagnostic]) -> bool:
    """Return whether a finding reports a file that can't be read."""
    return any(each.code == FILE_NOT_READ for each in findings)
