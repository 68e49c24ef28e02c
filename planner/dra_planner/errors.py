"""Errors and their locations. Invalid input raises an exception, and a finding about an object is a
value.

    PlannerError                 the input is wrong: place, message, fix (exit status 2)
    ├── SourceError              a path that doesn't exist, can't be read, or is empty
    ├── ManifestError            text that isn't YAML, JSON, or a Kubernetes object
    ├── FleetError               a fleet document that doesn't validate
    ├── CatalogError             an unknown machine, GPU, driver, or MIG configuration
    ├── PlanFileError            a plan file that is stale, edited by hand, or of another version
    └── UnsupportedFeature       a feature that this version or cloud doesn't support

Claims that don't fit and objects that the API server would reject don't raise exceptions. They are
values (`Reason`, `Diagnostic`), because one finding must never hide another.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from msgspec import Struct

Severity = Literal["error", "warning", "note"]

FILE_NOT_READ: Final = "file-not-read"
"""The code of the finding about a file that can't be read."""


class Place(Struct, frozen=True, order=True):
    """The place of something: a file, the line in it (1-based), and the field path inside the
    object.
    """

    file: str = ""
    line: int = 0  # 0 if unknown
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return " ".join(part for part in (where, self.path) if part)


NOWHERE = Place()
_PREDICATE: Final = re.compile(
    r"(is|isn't|doesn't|must|has|contains|can't|needs|exists|extends|sets|applies|supports|"
    r"replaces|expands|was)\b"
)
"""The beginning of a message whose subject is its place."""


def located(place: Place | str, message: str) -> str:
    """Return a message after its place, with a colon unless the place is its subject."""
    if not str(place):
        return message
    return f"{place}{'' if _PREDICATE.match(message) else ':'} {message}"


class RejectedValue(Struct, frozen=True):
    """Why a value isn't accepted, and the fix ("" if the problem names the accepted values)."""

    problem: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.problem}; {self.fix}" if self.fix else self.problem


class RejectedObject(NamedTuple):
    """An object that the API server would reject. `name` is "namespace/name", or the name of an
    object without a namespace.
    """

    kind: str
    name: str


class Diagnostic(Struct, frozen=True):
    """One finding of a linter, the API server, or a rule about one object.

    `rejected` is the object if the API server would reject it. `subject` is the workload of the
    finding, several workloads separated by commas, or "".
    """

    severity: Severity
    code: str  # words in kebab case, which are never reused for another purpose
    message: str
    place: Place = NOWHERE
    fix: str = ""
    rejected: RejectedObject | None = None
    subject: str = ""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The workloads of the finding."""
        return tuple(self.subject.split(", ")) if self.subject else ()

    def __str__(self) -> str:
        where = f"{self.place}: " if str(self.place) else ""
        return f"{where}{self.severity} {self.code}: {self.message}" + (
            f" ({self.fix})" if self.fix else ""
        )


class PlannerError(Exception):
    """Raised if the input is invalid. It contains the place, the problem, and the fix.

    `others` are further errors in the same input, so that a user can fix all of them at once.
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
        first = located(self.place, self.message) + (f"; {self.fix}" if self.fix else "")
        return "\n".join([first, *(str(other) for other in self.others)])


class SourceError(PlannerError):
    """A path that doesn't exist, can't be read, or contains nothing to plan."""


class ManifestError(PlannerError):
    """Text that can't be read as Kubernetes objects."""


class FleetError(PlannerError):
    """An invalid fleet."""


class CatalogError(PlannerError):
    """A machine type, GPU, driver version, or MIG configuration that isn't in the tables."""


class PlanFileError(PlannerError):
    """A plan file that is stale, edited by hand, or of an unsupported version."""


class UnsupportedFeature(PlannerError):
    """A feature that this version of the project, this Kubernetes or driver version, or this cloud
    doesn't support.
    """
