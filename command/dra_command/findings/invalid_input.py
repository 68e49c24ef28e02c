"""Errors in the input as findings, for formats that contain only findings."""

from __future__ import annotations

from dra_planner.errors import Diagnostic, Place, PlannerError, located

INVALID_INPUT = "invalid-input"


def invalid_input(error: PlannerError) -> tuple[Diagnostic, ...]:
    """Return an error and its further errors. Each message starts with the field, because not every
    format contains fields.
    """
    place = error.place
    message = located(place.path, error.message)
    first = Diagnostic("error", INVALID_INPUT, message, Place(place.file, place.line), error.fix)
    return (first, *(found for other in error.others for found in invalid_input(other)))
