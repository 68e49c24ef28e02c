"""The nearest fix comes first, and no fix leads to another finding."""

from __future__ import annotations

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan
from dra_planner.sources import Source

MEMORY = 'device.capacity["gpu.nvidia.com"].memory'
L4 = 'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"'
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 2 * * *"
  concurrencyPolicy: POLICY
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          tolerations: [{key: nvidia.com/gpu, operator: Exists}]
          resourceClaims: [{name: gpu, resourceClaimTemplateName: night}]
          containers: [{name: main, image: example/app, resources: {claims: [{name: gpu}]}}]
"""


def requesting(
    selector: str, name: str = "web", replicas: int = 1, device_class: str = "gpu.nvidia.com"
) -> Source:
    text = deployment(name, replicas=replicas).text.replace("gpu.nvidia.com", device_class)
    return Source(
        f"{name}.yaml",
        text.replace("count: ", f"selectors: [{{cel: {{expression: '{selector}'}}}}], count: "),
    )


def with_mig(most: int, mig: str = "all-1g.10gb") -> Fleet:
    found = fleet(("p5.4xlarge", {"min": 0, "max": most}))
    (row,) = found.document()["pools"]
    return read_fleet({**found.document(), "pools": [{**row, "mig": mig}]})


def fixes(plan: Plan) -> list[str]:
    return [reason.fix for each in plan.workloads for reason in each.reasons if reason.fix]


@pytest.mark.parametrize(
    "selector",
    [
        'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"',
        'has(device.attributes["gpu.nvidia.com"].profile) && '
        'device.attributes["gpu.nvidia.com"].type == "mig"',
    ],
)
def test_existing_mig_pool_gets_only_the_class_as_a_fix(selector: str) -> None:
    found = fixes(plan_of(with_mig(2), requesting(selector)))

    assert 'use DeviceClass mig.nvidia.com in request "gpu"' in found
    assert not [fix for fix in found if "mig: " in fix]


def test_wrong_domain_is_replaced_by_the_drivers_domain() -> None:
    selector = 'device.attributes["nvidia.com"].architecture == "Ada Lovelace"'

    found = fixes(plan_of(fleet(("g6.2xlarge", {"max": 2})), requesting(selector)))

    right = selector.replace("nvidia.com", "gpu.nvidia.com")
    assert f'use `{right}` instead of `{selector}` in request "gpu"' in found


def test_configuration_that_displaces_pods_is_not_suggested() -> None:
    small = requesting(
        'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"', "small", 14, "mig.nvidia.com"
    )
    large = requesting(
        'device.attributes["gpu.nvidia.com"].profile == "3g.40gb"', "large", 1, "mig.nvidia.com"
    )

    full, roomy = (
        [fix for fix in fixes(plan_of(with_mig(most), small, large)) if "mig: " in fix]
        for most in (2, 9)
    )

    assert all(fix.startswith("add a pool with machine type p5.4xlarge") for fix in full)
    assert all(fix.startswith("set `mig: ") for fix in roomy)
    assert full
    assert roomy


def test_unlimited_cron_job_gets_a_concurrency_policy_as_a_fix() -> None:
    own = fleet(("g6.2xlarge", {"min": 0, "max": 1}), ("g6e.2xlarge", {"min": 0, "max": 2}))
    claim = requesting(
        'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L40S"', "night"
    ).text.partition("---")[0]

    def ceiling(policy: str) -> list[str]:
        job = Source("job.yaml", f"{claim}---\n{CRON_JOB.replace('POLICY', policy)}")
        return [each.fix for each in plan_of(own, job).beside if "ceiling" in each.code]

    assert ceiling("Allow") == [
        "set concurrencyPolicy to Forbid or Replace, so that at most one of its Jobs runs"
    ]
    assert ceiling("Forbid") == ceiling("Replace") == []


def test_unlimited_workload_gets_the_price_of_the_missing_node() -> None:
    own = fleet(("g6.2xlarge", {"min": 0, "max": 1}), ("g6e.2xlarge", {"min": 0, "max": 2}))
    night = requesting(
        'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L40S"', "night"
    ).text.partition("---")[0]
    job = Source("job.yaml", f"{night}---\n{CRON_JOB.replace('POLICY', 'Allow')}")

    found = [each for each in plan_of(own, requesting(L4), job).beside if each.severity != "note"]

    assert [each.fix for each in found] == [
        'raise the maximum of pool "g6-2xlarge" to 2 (1 more node during a rollout, USD 0.98 more '
        "per hour), or set the rollout's maxSurge to 0 and maxUnavailable to 1"
    ]


def test_pool_with_the_smallest_change_comes_first() -> None:
    """The first pool has the smallest GPUs, and the third GPUs are almost large enough."""
    machines = ("g6.2xlarge", "g6e.2xlarge", "p5.4xlarge")
    selector = f'{MEMORY}.compareTo(quantity("80Gi")) >= 0'

    made = plan_of(fleet(*((machine, {"max": 2}) for machine in machines)), requesting(selector))

    (web,) = made.workloads
    pools = list(dict.fromkeys(reason.pool for reason in web.reasons if reason.pool))
    assert pools == ["p5-4xlarge", "g6e-2xlarge", "g6-2xlarge"]


def test_pool_with_the_most_devices_per_node_comes_first() -> None:
    """A request for 8 devices is lowered to 4 devices, not to 1."""
    own = fleet(("g6.4xlarge", {"max": 2}), ("g6.12xlarge", {"max": 2}))

    (web,) = plan_of(own, deployment("web", gpus=8)).workloads

    pools = list(dict.fromkeys(reason.pool for reason in web.reasons if reason.pool))
    assert pools == ["g6-12xlarge", "g6-4xlarge"]
