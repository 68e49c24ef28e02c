"""Admission policies that make new pods follow the plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, TypedDict

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.planfile import placement_policies
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.placement.plan_input import read_plan


class PlacementPoliciesArgs(TypedDict):
    """Inputs of PlacementPolicies."""

    plan: str
    """Plan file as JSON on one line (the `document` input of CapacityPlan)."""


class PlacementPolicies(pulumi.ComponentResource):
    """A MutatingAdmissionPolicy for each steering rule in a plan.

    The policies add a node selector to new pods. If the plan packs, they also add a preference for
    full nodes. If the plan spreads pods evenly, they also add a label and a topology spread
    constraint. Running pods stay on their nodes until they restart. Requires Kubernetes 1.36. For a
    plan without guards, the component doesn't create policies.
    """

    policy_names: pulumi.Output[list[str]]
    """Names of the MutatingAdmissionPolicies."""

    def __init__(
        self, name: str, args: PlacementPoliciesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("PlacementPolicies", name, args, PlacementPoliciesArgs)
        documents = _documents(read)
        read.finish()
        super().__init__("pulumi-dra:index:PlacementPolicies", name, {}, opts)
        children = Children(self, opts)
        names: list[pulumi.Output[str]] = []
        for policy, binding in zip(documents[::2], documents[1::2], strict=True):
            rule = policy["metadata"]["name"]
            created = k8s.admissionregistration.v1.MutatingAdmissionPolicy(
                f"{name}-{rule}",
                metadata=policy["metadata"],
                spec=policy["spec"],
                opts=children.options(),
            )
            k8s.admissionregistration.v1.MutatingAdmissionPolicyBinding(
                f"{name}-{rule}-binding",
                metadata=binding["metadata"],
                spec={"policy_name": created.metadata.name},
                opts=children.options(),
            )
            names.append(created.metadata.name)
        self.policy_names = pulumi.Output.all(*names)
        self.register_outputs({"policy_names": self.policy_names})


def _documents(read: InputReader) -> tuple[dict[str, Any], ...]:
    """Return the plan's policies and bindings in order. Errors are recorded in `read`."""
    plan = read_plan(read)
    guards = None if plan is None else plan.guards
    return () if guards is None else placement_policies(guards.guards)
