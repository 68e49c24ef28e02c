"""DeviceClasses that select GPUs by slightly more memory than the GPUs publish: the fix changes the
class, and applied, it places the pods.
"""

from __future__ import annotations

import re

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.plan.explanation.claims import explain_claim_of_plan
from dra_planner.sources import Source

A10G = fleet(("g5.xlarge", {"min": 0, "max": 4}))  # publishes 23028Mi
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: large-gpu}}
spec:
  selectors:
    - cel: {{expression: '{expression}'}}
---
"""
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


def selecting(expression: str) -> Source:
    text = deployment().text.replace(
        "deviceClassName: gpu.nvidia.com", "deviceClassName: large-gpu"
    )
    return Source("web.yaml", CLASS.format(expression=expression) + text)


@pytest.mark.parametrize(
    ("name", "condition", "fix"),
    [
        (
            "the nominal size",
            f'{MEMORY}.compareTo(quantity("24Gi")) >= 0',
            'use `quantity("23028Mi")` instead of `quantity("24Gi")` in DeviceClass large-gpu',
        ),
        (
            "much more: the reader must decide",
            f'{MEMORY}.compareTo(quantity("40Gi")) >= 0',
            'if 23028Mi is enough, use `quantity("23028Mi")` instead of `quantity("40Gi")` in '
            "DeviceClass large-gpu",
        ),
        (
            "strictly more than it publishes",
            f'{MEMORY}.isGreaterThan(quantity("23028Mi"))',
            f'use `{MEMORY}.compareTo(quantity("23028Mi")) >= 0` instead of '
            f'`{MEMORY}.isGreaterThan(quantity("23028Mi"))` in DeviceClass large-gpu',
        ),
    ],
)
def test_fix_of_a_class_selector_places_the_pods(name: str, condition: str, fix: str) -> None:
    plan = plan_of(A10G, selecting(f'device.driver == "gpu.nvidia.com" && {condition}'))
    reason = next(each for each in plan.workloads[0].reasons if each.pool)
    assert (plan.verdict, reason.fix) == ("does-not-fit", fix), name
    explanation = explain_claim_of_plan(plan, "default/web-gpu")
    assert [each.text for each in explanation.pools[0].edits] == [fix]
    (change,) = re.findall(r"use `(.*?)` instead of `(.*?)` in DeviceClass", fix)
    source = selecting(f'device.driver == "gpu.nvidia.com" && {condition}')
    assert source.text.count(change[1]) == 1
    fixed = Source("web.yaml", source.text.replace(change[1], change[0]))
    assert plan_of(A10G, fixed).verdict == "fits"


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("another driver", 'device.driver == "gpu.example.com"'),
        ("the drivers' own classes are never changed", 'device.driver == "gpu.intel.com"'),
    ],
)
def test_class_of_other_devices_gets_no_correction(name: str, expression: str) -> None:
    plan = plan_of(A10G, selecting(expression))
    assert not [each for each in plan.workloads[0].reasons if "in DeviceClass" in each.fix], name
