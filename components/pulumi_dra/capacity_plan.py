"""The plan file as the first resource in a stack, so that a policy pack reads the plan before
Pulumi creates other resources.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import TypedDict

import pulumi

from dra_planner.errors import PlannerError
from dra_planner.planfile import RECORD_DOCUMENT, RECORD_TYPE, canonical_text, parse_document
from pulumi_dra.inputs.reader import InputReader


class CapacityPlanArgs(TypedDict):
    """Inputs of CapacityPlan."""

    document: str
    """Contents of the plan file that `pulumi-dra plan --write` creates."""


class CapacityPlan(pulumi.ComponentResource):
    """Record of the stack's plan. Declare this component first, and make all other resources depend
    on `recorded`.
    """

    digest: pulumi.Output[str]
    """Digest of the plan's content."""
    verdict: pulumi.Output[str]
    """Verdict of the plan: fits, does-not-fit, or cannot-tell."""

    def __init__(
        self, name: str, args: CapacityPlanArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("CapacityPlan", name, args, CapacityPlanArgs)
        text = read.text("document")
        plan = None
        if text:
            try:
                plan = parse_document(text)
            except PlannerError as error:
                read.refuse("document", str(error))
        read.finish()
        assert plan is not None  # otherwise, `finish` has raised an error
        super().__init__(RECORD_TYPE, name, {RECORD_DOCUMENT: canonical_text(plan)}, opts)
        self.digest = pulumi.Output.from_input(plan.digest)
        self.verdict = pulumi.Output.from_input(str(plan.verdict))
        self.register_outputs({"digest": self.digest, "verdict": self.verdict})

    @property
    def recorded(self) -> pulumi.Output[pulumi.Resource]:
        """The resource to depend on.

        A dependency on the component itself waits only for its children, and it has none
        (pulumi/pulumi:sdk/python/lib/pulumi/runtime/rpc.py@v3.259.0, `_add_dependency`).
        """
        return self.urn.apply(lambda urn: pulumi.resource.DependencyResource(urn))
