"""`runtimeConfig` of a fleet: API versions that its API server serves although they're off by
default.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

Object = dict[str, Any]
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def served(kubernetes: str, *versions: str, rules: bool = False, on: bool = True) -> Object:
    """A fleet on EKS with one pool of single L4 GPUs that serves these API versions; `rules`:
    DeviceTaintRules are on.
    """
    return {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": kubernetes,
        **({"featureGates": {"DRADeviceTaintRules": True}} if rules else {}),
        "runtimeConfig": dict.fromkeys(versions, on),
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "0.4.1"}},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}],
    }


def template(version: str, **request: Any) -> Object:
    devices = {"requests": [{"name": "gpu", **request}]}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu"},
        "spec": {"spec": {"devices": devices}},
    }


def pod() -> Object:
    resources = {"claims": [{"name": "gpu"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": resources}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
            "tolerations": [TOLERATION],
        },
    }


def taint_rule(version: str) -> Object:
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "broken"},
        "spec": {"deviceSelector": {"driver": "gpu.nvidia.com"}, "taint": taint},
    }


def planned(on: Object, *objects: Object) -> Plan:
    text = "\n---\n".join(map(json.dumps, objects))
    return make_plan(PlanRequest(sources=(Source("m.yaml", text),), fleet=read_fleet(on)))


FLAT = {"deviceClassName": "gpu.nvidia.com", "count": 1}
NESTED = {"exactly": FLAT}
V1BETA1, V1BETA2 = "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("version", "request_"), [("v1beta1", FLAT), ("v1beta2", NESTED)], ids=["v1beta1", "v1beta2"]
)
def test_claims_of_a_served_version_are_read(version: str, request_: Object) -> None:
    objects = template(version, **request_), pod()
    plan = planned(served("1.36", f"resource.k8s.io/{version}"), *objects)
    assert plan.verdict == "fits", plan.findings
    assert any(f"also serves resource.k8s.io/{version}" in each for each in plan.assumptions)
    plan = planned(served("1.36"), *objects)
    assert plan.verdict == "does-not-fit"
    assert any("no matches for kind" in each.message for each in plan.findings)


def test_version_is_decoded_in_its_own_form() -> None:
    """A request of v1beta2 in the flat form of v1beta1 has an unknown field."""
    plan = planned(served("1.36", V1BETA2), template("v1beta2", **FLAT), pod())
    assert plan.verdict == "does-not-fit"


def test_a_later_minor_version_no_longer_serves_a_removed_version() -> None:
    on = read_fleet(served("1.37", V1BETA1))
    assert on.features.served == {V1BETA1}
    assert on.features_at(38).served == frozenset()


@pytest.mark.parametrize(
    ("on", "verdict", "message"),
    [
        pytest.param(
            served("1.36", V1BETA2, rules=True), "does-not-fit", "taints the devices", id="served"
        ),
        pytest.param(
            served("1.36", V1BETA2), "fits", "has no effect", id="served, but its gate is disabled"
        ),
        pytest.param(
            served("1.36", rules=True), "does-not-fit", "no matches for kind", id="not served"
        ),
        pytest.param(
            served("1.35", V1BETA2, rules=True),
            "does-not-fit",
            "no matches for kind",
            id="a version without this kind yet",
        ),
    ],
)
def test_taint_rules_apply_if_their_version_is_served(
    on: Object, verdict: str, message: str
) -> None:
    plan = planned(on, template("v1", **NESTED), pod(), taint_rule("v1beta2"))
    assert plan.verdict == verdict
    assert any(message in each.message for each in plan.findings), plan.findings


def policy(version: str) -> Object:
    return {
        "apiVersion": f"admissionregistration.k8s.io/{version}",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {},
    }


@pytest.mark.parametrize(
    ("on", "version", "verdict"),
    [
        pytest.param(served("1.36"), "v1", "fits", id="stable"),
        pytest.param(served("1.35"), "v1", "does-not-fit", id="before it's stable"),
        pytest.param(served("1.35"), "v1beta1", "does-not-fit", id="beta, which is disabled"),
        pytest.param(
            served("1.35", "admissionregistration.k8s.io/v1beta1"), "v1beta1", "fits", id="beta"
        ),
    ],
)
def test_policies_need_a_served_version(on: Object, version: str, verdict: str) -> None:
    plan = planned(on, template("v1", **NESTED), pod(), policy(version))
    assert plan.verdict == verdict, plan.findings


@pytest.mark.parametrize(
    ("on", "message"),
    [
        pytest.param(
            served("1.36", "resource.k8s.io/v1beta3"),
            "isn't an API version that plans depend on; did you mean resource.k8s.io/v1beta",
            id="a misspelled version",
        ),
        pytest.param(
            served("1.36", "batch/v1"),
            "isn't an API version that plans depend on; use one of these API versions: admissionregistration",
            id="another API",
        ),
        pytest.param(served("1.36", V1BETA2, on=False), "is off by default; remove", id="off"),
    ],
)
def test_wrong_values_are_errors(on: Object, message: str) -> None:
    with pytest.raises(PlannerError) as raised:
        read_fleet(on)
    assert message in str(raised.value)
