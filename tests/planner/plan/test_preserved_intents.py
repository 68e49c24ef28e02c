"""Fixes preserve the author's intent, raise all counts at the same time, and state the cost. One
fix is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest
import yaml
from msgspec import Struct

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

Json = dict[str, Any]
Objects = list[Json]
COUNT = re.compile(r'(?:set the count|raise the maximum) of pool "([^"]+)" to (\d+)')
SETTINGS = re.compile(r"`([^`=]+=[^`]+)`")
SHARING = {
    "TimeSlicing": {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Medium"}},
    "MPS": {"strategy": "MPS", "mpsConfig": {"defaultActiveThreadPercentage": 50}},
}
SHARING_GATES = {"TimeSlicingSettings": True, "MPSSupport": True}


class Case(Struct, frozen=True):
    """What someone wrote, the words of the right fix, words of wrong ones, and the fix as it is
    followed.
    """

    objects: Objects
    fleet: Fleet
    fix: str
    never: str = "^$"
    follow: Callable[[Objects, str], Objects] | None = None
    settings: bool = False
    costs: bool = False


# -- objects and fleets


def fleet(
    machine: str = "g6.2xlarge",
    count: Any = 1,
    *,
    driver: Mapping[str, Any] | None = None,
    **more: Any,
) -> Fleet:
    document = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.36",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.12.0", **(driver or {})}},
        "pools": [{"name": "gpus", "machine": machine, "count": count}],
    }
    return read_fleet({**document, **more})


def template(name: str = "gpu", *requests: Json, **devices: Any) -> Json:
    listed = list(requests) or [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": listed, **devices}}},
    }


def of(count: int = 1, name: str = "gpu", **exactly: Any) -> Json:
    counted = {"count": count} if count > 1 else {}
    return {"name": name, "exactly": {"deviceClassName": "gpu.nvidia.com", **counted, **exactly}}


def pod(claim: str = "gpu", **more: Any) -> Json:
    return {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": claim}],
        "containers": [
            {
                "name": "main",
                "image": "registry.example/a:1",
                "resources": {"claims": [{"name": "gpu"}]},
            }
        ],
        **more,
    }


def controlled(kind: str, pods: int, name: str = "web", claim: str = "gpu", **spec: Any) -> Objects:
    """Return a workload with this number of pods: a Deployment, StatefulSet, Job, or bare pods."""
    at = {"name": name, "namespace": "default"}
    if kind == "Pod":
        return [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {**at, "name": f"{name}-{number}"},
                "spec": pod(claim),
            }
            for number in range(pods)
        ]
    if kind == "Job":
        inner = {"spec": pod(claim, restartPolicy="Never")}
        counts = {"parallelism": pods, "completions": pods}
        return [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": at,
                "spec": {**counts, "template": inner, **spec},
            }
        ]
    labels = {"app": name}
    made = {
        "replicas": pods,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod(claim)},
        **spec,
    }
    return [{"apiVersion": "apps/v1", "kind": kind, "metadata": at, "spec": made}]


def scaler(most: int, name: str = "web") -> Json:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1,
            "maxReplicas": most,
        },
    }


def shared_config(strategy: str) -> list[Json]:
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": SHARING[strategy],
    }
    return [{"requests": ["gpu"], "opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}]


# -- following a fix


def one_claim(objects: Objects, fix: str) -> Objects:
    """Replace the template with a single claim that all pods use."""
    del fix
    text = yaml.safe_dump_all(objects).replace("resourceClaimTemplateName", "resourceClaimName")
    made = list(yaml.safe_load_all(text))
    for each in made:
        if each["kind"] == "ResourceClaimTemplate":
            each.update(kind="ResourceClaim", spec=each["spec"]["spec"])
    return made


def guarded(objects: Objects, fix: str) -> Objects:
    """Begin the class's selector with the conditions that a fix names."""
    (begin,) = re.findall(r"begin the selector of DeviceClass \S+ with `(.+?) &&`", fix)
    for each in objects:
        if each["kind"] == "DeviceClass":
            cel = each["spec"]["selectors"][0]["cel"]
            cel["expression"] = f"{begin} && ({cel['expression']})"
    return objects


def fewer(objects: Objects, fix: str) -> Objects:
    """Ask for as many devices as a fix allows."""
    (most,) = re.findall(r"request at most (\d+)", fix)
    for each in objects:
        if each["kind"] == "ResourceClaimTemplate":
            each["spec"]["spec"]["devices"]["requests"] = [of(int(most))]
    return objects


def tolerations_moved(objects: Objects, fix: str) -> Objects:
    assert "exactly" in fix
    devices = objects[0]["spec"]["spec"]["devices"]
    moved = devices.pop("tolerations", None) or devices["requests"][0].pop("tolerations")
    devices["requests"][0]["exactly"]["tolerations"] = moved
    return objects


def raised(where: Fleet, fix: str) -> Fleet:
    """Return the fleet with the counts that a fix names."""
    document = where.document()
    for name, count in COUNT.findall(fix):
        for each in document["pools"]:
            if each["name"] == name:
                now = each["count"]
                each["count"] = {**now, "max": int(count)} if isinstance(now, dict) else int(count)
                if isinstance(now, dict) and now.get("min") == now.get("max"):
                    each["count"]["min"] = int(count)
    return read_fleet(document)


# -- cases

CASES: dict[str, Case] = {}

for strategy, kind, count in product(
    SHARING, ("Pod", "Deployment", "Job"), (1, {"min": 0, "max": 1})
):
    size = "fixed" if count == 1 else "growing"
    CASES[f"{strategy} in a template of a {kind}, {size} pool"] = Case(
        [template(config=shared_config(strategy)), *controlled(kind, 2)],
        fleet(count=count, driver={"version": "0.4.1", "featureGates": SHARING_GATES}),
        r'^to share one device, use resourceClaimName instead of resourceClaimTemplateName for claim "gpu"',
        r"^(raise|set)",
        one_claim,
    )

for kind, amount, pods in product(("Deployment", "Job", "Pod"), ("7Gi", "4Gi"), (3, 2)):
    CASES[f"{pods} pods of a {kind} ask for {amount} of a GPU"] = Case(
        [template("gpu", of(capacity={"requests": {"memory": amount}})), *controlled(kind, pods)],
        fleet(driver={"version": "0.5.0"}),
        r"^set `drivers\.nvidia\..*so that several claims can share a device",
        r"^(raise|set the count)",
        settings=True,
    )

for amount, pods in product(("8Gi", "20Gi"), (6, 9)):
    objects = [
        template("gpu", of(capacity={"requests": {"memory": amount}})),
        *controlled("Deployment", pods),
    ]
    CASES[f"{amount} of memory for {pods} pods, dropped before 1.36"] = Case(
        objects,
        fleet(count={"min": 0, "max": 2}, driver={"version": "0.5.0"}, kubernetes="1.35"),
        r"^set `kubernetes=1\.36`.*so that several claims can share a device"
        if amount == "8Gi"
        else r'^raise the maximum of pool "gpus" to',
        r"^(raise|set the count)" if amount == "8Gi" else r"several claims can share",
        settings=amount == "8Gi",
        costs=amount != "8Gi",
    )

PROFILE = "device.attributes['gpu.nvidia.com'].profile"
for name, expression in {
    "with the driver": f"device.driver == 'gpu.nvidia.com' && {PROFILE} == '1g.10gb'",
    "without the driver": f"{PROFILE} == '1g.10gb'",
    "of a list": f"{PROFILE} in ['1g.10gb', '1g.12gb']",
    "by its beginning": f"{PROFILE}.startsWith('1g.10')",
    "in double quotes": 'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"',
}.items():
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "h100-1g.10gb"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    CASES[f"seven parts of a class {name}"] = Case(
        [
            device_class,
            template("gpu", of(7, deviceClassName="h100-1g.10gb")),
            *controlled("Deployment", 1),
        ],
        fleet("p5.48xlarge", {"min": 0, "max": 3}, driver={"featureGates": {"DynamicMIG": True}}),
        r"begin the selector of DeviceClass h100-1g\.10gb with `has\(device\.attributes",
        r"use DeviceClass gpu\.nvidia\.com",
        guarded,
    )

TOLERATION = [{"key": "gpu.nvidia.com/xid", "operator": "Exists", "effect": "NoExecute"}]
CASES["tolerations beside the requests"] = Case(
    [template("gpu", of(), tolerations=TOLERATION), *controlled("Job", 1)],
    fleet(),
    r"spec\.devices\.requests\[\]\.exactly\.tolerations",
    follow=tolerations_moved,
)
CASES["tolerations beside exactly"] = Case(
    [template("gpu", {**of(), "tolerations": TOLERATION}), *controlled("Job", 1)],
    fleet(),
    "move the field under `exactly`",
    follow=tolerations_moved,
)

for requested, machine, most in (
    (9, "p5.48xlarge", 8),
    (16, "p5.48xlarge", 8),
    (5, "g6.12xlarge", 4),
    (9, "g6.48xlarge", 8),
):
    for cpu in ("1", "190"):
        objects = [template("gpu", of(requested)), *controlled("Job", 1)]
        container = objects[1]["spec"]["template"]["spec"]["containers"][0]
        container["resources"]["requests"] = {"cpu": cpu if machine != "g6.12xlarge" else "40"}
        CASES[f"{requested} GPUs of one {machine}, {cpu} CPU"] = Case(
            objects,
            fleet(machine, 2),
            f"request at most {most} devices, because a node has {most} devices",
            "(?i)cpu",
            fewer,
        )

JOINT: dict[str, tuple[Objects, Fleet]] = {
    "a rollout needs more": ([template(), *controlled("Deployment", 3)], fleet(count=2)),
    "a rollout with a surge of all": (
        [
            template(),
            *controlled("Deployment", 3, strategy={"rollingUpdate": {"maxSurge": "100%"}}),
        ],
        fleet(count={"min": 0, "max": 1}),
    ),
    "an autoscaler's maximum": (
        [template(), *controlled("Deployment", 3), scaler(9)],
        fleet(count={"min": 0, "max": 2}),
    ),
    "a ceiling on nodes of four": (
        [template(), *controlled("Deployment", 5), scaler(13)],
        fleet("g6.12xlarge", 1),
    ),
    "two workloads": (
        [template(), *controlled("Deployment", 3), *controlled("Deployment", 4, "other")],
        fleet(count={"min": 1, "max": 2}),
    ),
    "a workload and a Job": (
        [template(), *controlled("Job", 6, "train"), *controlled("Deployment", 2)],
        fleet(count=3),
    ),
    "two GPUs each": (
        [template("gpu", of(2)), *controlled("Deployment", 5)],
        fleet("g6.12xlarge", 1),
    ),
    "a StatefulSet": ([template(), *controlled("StatefulSet", 4)], fleet(count=2)),
    "a whole node each": (
        [template("gpu", of(8)), *controlled("Job", 3)],
        fleet("p5.48xlarge", {"min": 0, "max": 1}),
    ),
    "bare pods": ([template(), *controlled("Pod", 5)], fleet(count=2)),
}
for name, (objects, where) in JOINT.items():
    CASES[f"too few nodes: {name}"] = Case(objects, where, COUNT.pattern, costs=True)


def selecting(expression: str) -> Json:
    return template("gpu", of(selectors=[{"cel": {"expression": expression}}]))


def corrected(objects: Objects, fix: str) -> Objects:
    """Replace the condition that a fix quotes."""
    (right, wrong), *_ = re.findall(r"use `([^`]+)` instead of `([^`]+)`", fix)
    cel = objects[0]["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"][0]["cel"]
    cel["expression"] = cel["expression"].replace(wrong, right)
    return objects


ATTRIBUTES, CAPACITY = (f'device.{each}["gpu.nvidia.com"]' for each in ("attributes", "capacity"))
CASES |= {
    f"a misspelled name: {wrong}": Case(
        [selecting(wrong), *controlled("Job", 1)],
        fleet(),
        re.escape(f"use `{right}` instead of `{wrong}`"),
        never=r"^(if [^,]+, )?remove ",
        follow=corrected,
    )
    for wrong, right in (
        (f'{ATTRIBUTES}.productname == "NVIDIA L4"', f'{ATTRIBUTES}.productName == "NVIDIA L4"'),
        (
            f'{ATTRIBUTES}["productname"] == "NVIDIA L4"',
            f'{ATTRIBUTES}["productName"] == "NVIDIA L4"',
        ),
        (
            f'{ATTRIBUTES}.architectur == "Ada Lovelace"',
            f'{ATTRIBUTES}.architecture == "Ada Lovelace"',
        ),
        (
            f'{CAPACITY}.mem.compareTo(quantity("20Gi")) >= 0',
            f'{CAPACITY}.memory.compareTo(quantity("20Gi")) >= 0',
        ),
        (
            f'{CAPACITY}.Memory.compareTo(quantity("20Gi")) >= 0',
            f'{CAPACITY}.memory.compareTo(quantity("20Gi")) >= 0',
        ),
    )
}


# -- judging


class Texts(Struct):
    """Return every fix that a plan prints, or the error for invalid input."""

    fixes: list[str] = []
    messages: list[str] = []
    codes: list[str] = []


def planned(objects: Objects, where: Fleet) -> Plan:
    source = Source("app.yaml", yaml.safe_dump_all(objects, sort_keys=False))
    return make_plan(PlanRequest(sources=(source,), fleet=where))


def texts_of(made: Plan) -> Texts:
    texts = Texts()
    for size in made.judgement.sizing.workloads:
        for reason in size.reasons:
            texts.fixes.append(reason.fix)
            texts.messages.append(reason.message)
            texts.codes.append(reason.code)
    for finding in (*made.beside, *made.diagnostics):
        texts.fixes.append(finding.fix)
        texts.messages.append(finding.message)
        texts.codes.append(finding.code)
    return texts


@pytest.mark.parametrize("name", CASES)
def test_suggested_fix_keeps_the_intent_and_removes_the_finding(name: str) -> None:
    case = CASES[name]
    before = texts_of(planned(yaml.safe_load(yaml.safe_dump(case.objects)), case.fleet))
    right = [fix for fix in before.fixes if re.search(case.fix, fix)]
    assert right, before
    assert not [fix for fix in before.fixes if re.search(case.never, fix)], before
    if case.costs:
        assert all(re.search(r"USD [\d.,]+ more per hour", fix) for fix in right), right

    objects = yaml.safe_load(yaml.safe_dump(case.objects))
    if case.follow is not None:
        objects, where = case.follow(objects, right[0]), case.fleet
    elif case.settings:
        where = change_fleet(case.fleet, [read_change(each) for each in SETTINGS.findall(right[0])])
        where = raised(where, right[0].split(". If ", maxsplit=1)[0])
    elif case.costs:
        where = raised(case.fleet, right[0])
    else:
        return
    after = planned(objects, where)
    assert after.verdict == "fits", texts_of(after)
    assert not [code for code in texts_of(after).codes if code.endswith("does-not-fit")], texts_of(
        after
    )
