"""The plan file as an input of components."""

from dra_planner.errors import PlannerError
from dra_planner.planfile import PlanFile, parse_document
from pulumi_dra.inputs.reader import InputReader


def read_plan(read: InputReader) -> PlanFile | None:
    """Return the plan in the input `plan`; None if it isn't one, with the error in `read`."""
    text = read.text("plan")
    if not text:
        read.refuse("plan", "is missing. Pass the contents of the plan file as one line of JSON")
        return None
    try:
        return parse_document(text)
    except PlannerError as error:
        read.refuse("plan", str(error))
        return None
