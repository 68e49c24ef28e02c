"""The resource that contains the plan → the validated plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dra_planner.errors import PlannerError
from dra_planner.planfile import RECORD_DOCUMENT, RECORD_TYPE, PlanFile, parse_document
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN
from dra_policies.view.stack_view import Record


def find_record(resources: Sequence[Resource]) -> Record | None:
    """Return the plan record among these resources. If there are two, the record is invalid."""
    found = [resource for resource in resources if resource.type == RECORD_TYPE]
    if not found:
        return None
    if len(found) > 1:
        names = ", ".join(resource.name for resource in found)
        return Record(
            urn=found[-1].urn,
            problem=(
                f"is registered {len(found)} times ({names}), but a stack can have only one plan"
            ),
        )
    return read_record(found[0])


def read_record(resource: Resource) -> Record:
    """Return the record of a resource."""
    text = resource.props.at(RECORD_DOCUMENT)
    if text is UNKNOWN or (text is None and resource.props.has("digest")):
        return Record(urn=resource.urn)  # a resource that wasn't analyzed has only outputs
    if not isinstance(text, str):
        return Record(
            urn=resource.urn, problem=f'has a "{RECORD_DOCUMENT}" input that isn\'t a string'
        )
    try:
        return Record(urn=resource.urn, plan_file=_parsed(text))
    except PlannerError as error:
        return Record(urn=resource.urn, problem=error.message)


@lru_cache(maxsize=4)
def _parsed(text: str) -> PlanFile:
    """Parse a document only once, because every pool and object in a stack is compared with it."""
    return parse_document(text)
