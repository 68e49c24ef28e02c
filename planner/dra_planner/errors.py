"""What goes wrong, and where: wrong input is an exception, a finding about an object is a value.

    PlannerError                 the input is wrong: place, message, fix (exit status 2)
    ├── SourceError              a path that does not exist, cannot be read, or holds nothing
    ├── ManifestError            text that is not YAML or JSON, or no Kubernetes object
    ├── FleetError               a fleet document that does not validate
    ├── CatalogError             a machine, GPU, driver or layout that is unknown
    ├── PlanFileError            a plan document that is stale, edited by hand or of another version
    └── UnsupportedFeature       something asked for that this version, release or cloud does not do

A claim that does not fit and an object that the API server would refuse are no exceptions: they are
values (`Reason`, `Diagnostic`), because one finding must never hide another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands: a file, the line in it (1-based) and the field path inside the
    object.
    """

    file: str = ""
    line: int = 0  # 0: not known
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return " ".join(part for part in (where, self.path) if part)


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about one object: what a linter, the API server or a rule would say."""

    severity: Severity
    code: str  # kebab-case words, never reused for something else
    message: str
    place: Place = NOWHERE
    fix: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: " if str(self.place) else ""
        return f"{where}{self.severity} {self.code}: {self.message}" + (
            f" ({self.fix})" if self.fix else ""
        )


class PlannerError(Exception):
    """The input is wrong. Says where, what is wrong and what would make it right.

    `others` holds further errors of the same input, so that a user can fix all of them in one go.
    """

    def __init__(
        self,
        message: str,
        *,
        place: Place = NOWHERE,
        fix: str = "",
        others: tuple[PlannerError, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.fix = fix
        self.others = others

    def __str__(self) -> str:
        where = f"{self.place}: " if str(self.place) else ""
        first = f"{where}{self.message}" + (f"; {self.fix}" if self.fix else "")
        return "\n".join([first, *(str(other) for other in self.others)])


class SourceError(PlannerError):
    """A path that does not exist, cannot be read, or holds nothing to plan."""


class ManifestError(PlannerError):
    """Text that cannot be read as Kubernetes objects."""


class FleetError(PlannerError):
    """A fleet document that does not validate."""


class CatalogError(PlannerError):
    """A machine, GPU, driver version or layout that no table holds."""


class PlanFileError(PlannerError):
    """A plan document that is stale, edited by hand, or of a version this program does not read."""


class UnsupportedFeature(PlannerError):
    """Something asked for that this version of the project, this release or this cloud does not
    do.
    """
