"""Custom DeviceClasses for MIG devices on pools without MIG: the fixes keep the MIG devices. Each
test applies the fix and plans again.
"""

from __future__ import annotations

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan
from dra_planner.sources import Source

PROFILE = 'device.attributes["gpu.nvidia.com"].profile'
NVIDIA = 'device.driver == "gpu.nvidia.com"'
GUARD = f"begin the selector of DeviceClass slice with `has({PROFILE}) &&`"
H100 = fleet(("p5.48xlarge", {"min": 0, "max": 1}))
A100 = fleet(("p4d.24xlarge", {"min": 0, "max": 1}))


def device_class(*selectors: str) -> Source:
    rows = ", ".join(f"{{cel: {{expression: '{each}'}}}}" for each in selectors)
    text = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: slice}\n"
    return Source("class.yaml", f"{text}spec: {{selectors: [{rows}]}}\n")


def pods(name: str = "web", selector: str = "") -> Source:
    named = "deviceClassName: slice"
    if selector:
        named += f", selectors: [{{cel: {{expression: '{selector}'}}}}]"
    text = deployment(name).text.replace("deviceClassName: gpu.nvidia.com", named)
    return Source(f"{name}.yaml", text)


def fix_of(plan: Plan) -> str:
    assert plan.verdict == "does-not-fit"
    reasons = plan.workloads[0].reasons
    (found,) = (each for each in reasons if each.code == "pool-missing")
    assert next(each.fix for each in reasons if each.fix) == found.fix
    return found.fix


def with_mig(where: Fleet, mig: str, **pool: object) -> Fleet:
    document = where.document()
    (row,) = document["pools"]
    changed = {**row, "mig": mig, **pool}
    others = [row] if "name" in pool else []
    return read_fleet({**document, "pools": [*others, changed]})


@pytest.mark.parametrize(
    "selectors",
    [
        (f'{NVIDIA} && {PROFILE} == "1g.5gb"',),
        (NVIDIA, f'{PROFILE} == "1g.5gb"'),
        (f'{NVIDIA} && {PROFILE}.startsWith("1g.5gb")', f'{PROFILE} == "1g.5gb"'),
    ],
    ids=["one selector", "driver and profile separately", "two selectors for the profile"],
)
def test_class_without_a_type_gets_a_guard_and_a_configuration(selectors: tuple[str, ...]) -> None:
    """Given a class that fails on whole GPUs, expect a guard and a MIG configuration."""
    plan = plan_of(A100, device_class(*selectors), pods())

    assert fix_of(plan) == f'{GUARD}, and set `mig: all-1g.5gb` on pool "p4d-24xlarge"'
    position = next(i for i, each in enumerate(selectors) if PROFILE in each)
    guarded = [*selectors]
    guarded[position] = f"has({PROFILE}) && {guarded[position]}"
    after = with_mig(A100, "all-1g.5gb", name="added")  # in addition to the pool of whole GPUs
    assert plan_of(after, device_class(*guarded), pods()).verdict == "fits"


def test_cheaper_pools_come_first() -> None:
    plan = plan_of(H100, device_class(f'{NVIDIA} && {PROFILE} == "1g.10gb"'), pods())

    assert fix_of(plan).startswith(f"{GUARD}, and add a pool with machine type p5.4xlarge ")
    assert plan.joint_fix is not None
    guard, pool = plan.joint_fix.steps
    assert guard == f"Deployment default/web: {GUARD}"
    assert pool.endswith("and `mig: all-1g.10gb`, with at most 1 node")


def test_whole_gpus_are_no_joint_fix() -> None:
    """Given two workloads, expect a joint fix with MIG devices, although whole GPUs cost less."""
    sources = (device_class(f'{PROFILE} == "1g.5gb"'), pods("a"), pods("b"))

    plan = plan_of(A100, *sources)

    assert plan.joint_fix is not None
    assert not [step for step in plan.joint_fix.steps if "whole GPU" in step]
    assert any("all-1g.5gb" in step for step in plan.joint_fix.steps)


def test_class_with_a_type_needs_no_guard() -> None:
    selector = f'device.attributes["gpu.nvidia.com"].type == "mig" && {PROFILE} == "1g.5gb"'

    plan = plan_of(A100, device_class(selector), pods())

    assert fix_of(plan) == 'set `mig: all-1g.5gb` on pool "p4d-24xlarge"'


def test_class_with_a_guard_keeps_it() -> None:
    plan = plan_of(A100, device_class(f'has({PROFILE}) && {PROFILE} == "1g.5gb"'), pods())

    assert fix_of(plan) == 'set `mig: all-1g.5gb` on pool "p4d-24xlarge"'


def test_other_profile_needs_only_a_configuration() -> None:
    """Given a pool with another profile, on which the class doesn't fail, expect no guard."""
    where = with_mig(A100, "all-3g.20gb")

    plan = plan_of(where, device_class(f'{PROFILE} == "1g.5gb"'), pods())

    assert fix_of(plan) == 'set `mig: all-1g.5gb` on pool "p4d-24xlarge"'


def test_profile_in_a_request_keeps_the_class() -> None:
    """Given a class for MIG devices and a request for a profile, expect the class with a guard."""
    any_profile = device_class(f'{PROFILE}.endsWith("gb")')

    plan = plan_of(A100, any_profile, pods(selector=f'{PROFILE} == "1g.5gb"'))

    assert fix_of(plan) == f'{GUARD}, and set `mig: all-1g.5gb` on pool "p4d-24xlarge"'


def test_cloud_without_mig_offers_whole_gpus() -> None:
    gke = fleet(("a3-highgpu-8g", {"max": 2}), cloud="gke")

    plan = plan_of(gke, device_class(f'{PROFILE} == "1g.10gb"'), pods())

    fixes = [reason.fix for reason in plan.workloads[0].reasons]
    assert 'if a whole GPU is acceptable, use DeviceClass gpu.nvidia.com in request "gpu"' in fixes
