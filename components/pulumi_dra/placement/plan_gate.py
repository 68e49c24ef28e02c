"""Admission policies and quotas that keep a cluster within its plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.planfile import PlanFile
from dra_planner.planfile.admission_gate import admission_gate
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.placement.plan_input import read_plan


class PlanGateArgs(TypedDict):
    """Inputs of PlanGate."""

    plan: str
    """Plan file as JSON on one line (the `document` input of CapacityPlan)."""
    quotas: NotRequired[bool]
    """Create a ResourceQuota in each namespace in the plan. The namespaces must exist. Default:
    true.
    """


class PlanGate(pulumi.ComponentResource):
    """Admission policies and quotas that reject objects that exceed a plan, even if the objects
    bypass CI.

    Claims must use a DeviceClass in the plan, device plugins must not run on DRA nodes, and each
    namespace can request only as many devices as its workloads need at their maximum. Existing
    objects aren't affected. `pulumi-dra plan --gate` writes the same objects as YAML.
    """

    policy_names: pulumi.Output[list[str]]
    """Names of the ValidatingAdmissionPolicies."""
    quota_namespaces: pulumi.Output[list[str]]
    """Namespaces with a ResourceQuota."""

    def __init__(
        self, name: str, args: PlanGateArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("PlanGate", name, args, PlanGateArgs)
        plan = read_plan(read)
        has_quotas = read.flag("quotas", default=True)
        read.finish()
        super().__init__("pulumi-dra:index:PlanGate", name, {}, opts)
        children = Children(self, opts)
        policies: list[pulumi.Output[str]] = []
        namespaces: list[pulumi.Output[str]] = []
        for document in _documents(plan):
            match document["kind"]:
                case "ValidatingAdmissionPolicy":
                    policies.append(_policy(name, document, children))
                case "ValidatingAdmissionPolicyBinding":
                    _bind(name, document, policies[-1], children)
                case "ResourceQuota" if has_quotas:
                    namespaces.append(_quota(name, document, children))
                case _:
                    pass
        self.policy_names = pulumi.Output.all(*policies)
        self.quota_namespaces = pulumi.Output.all(*namespaces)
        self.register_outputs(
            {"policy_names": self.policy_names, "quota_namespaces": self.quota_namespaces}
        )


def _documents(plan: PlanFile | None) -> tuple[dict[str, Any], ...]:
    return () if plan is None else admission_gate(plan)


def _policy(name: str, document: Mapping[str, Any], children: Children) -> pulumi.Output[str]:
    created = k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
        f"{name}-{document['metadata']['name']}",
        metadata=document["metadata"],
        spec=document["spec"],
        opts=children.options(),
    )
    return created.metadata.name


def _bind(
    name: str, document: Mapping[str, Any], policy: pulumi.Output[str], children: Children
) -> None:
    spec: Any = {**document["spec"], "policyName": policy}  # in API form
    k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
        f"{name}-{document['metadata']['name']}-binding",
        metadata=document["metadata"],
        spec=spec,
        opts=children.options(),
    )


def _quota(name: str, document: Mapping[str, Any], children: Children) -> pulumi.Output[str]:
    created = k8s.core.v1.ResourceQuota(
        f"{name}-{document['metadata']['namespace']}-devices",
        metadata=document["metadata"],
        spec=document["spec"],
        opts=children.options(),
    )
    return created.metadata.namespace
