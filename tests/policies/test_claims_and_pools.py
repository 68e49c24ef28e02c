"""Claims and pools: checked when the pack reads the plan, and again for the declared resources of
the stack.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN

TWO_POOLS = [
    {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}},
    {"name": "l4x4", "machine": "g6.12xlarge", "count": 1},
]
VOLTA = "device.attributes['gpu.nvidia.com'].architecture == 'Volta'"
UUID = "device.attributes['gpu.nvidia.com'].uuid == 'x'"
CLAIMS = ("claim-fits-no-pool", "pool-maximum-too-small", "claim-cannot-be-judged")


def rules_and_texts(entries: Any) -> list[tuple[str, str]]:
    return [(entry.rule.id, str(entry.finding)) for entry in entries]


def of_claims(entries: Any) -> list[tuple[str, str]]:
    return [entry for entry in rules_and_texts(entries) if entry[0] in CLAIMS]


def named(entries: Any) -> list[str]:
    return sorted({entry.rule.id for entry in entries})


# Jobs (pods, devices each, …) and the plan's fleet → rule and sentence when the record is analysed.
SENTENCES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[tuple[str, str]]]] = {
    "everything fits": ([{"pods": 4}], {}, []),
    "the maximum is too small": (
        [{"pods": 8}],
        {},
        [
            (
                "pool-maximum-too-small",
                "claim default/train-gpu (Job default/train): the pods' claims need 8 devices in "
                'total, but pool "l4" has at most 4 (4 nodes × 1); raise the maximum of pool "l4" to 8 '
                "(4 more nodes, USD 3.91 more per hour)",
            )
        ],
    ),
    "two pools together are too small": (
        [{"pods": 9}],
        {"pools": TWO_POOLS},
        [
            (
                "pool-maximum-too-small",
                "claim default/train-gpu (Job default/train): the pods' claims need 9 devices in "
                'total, but pool "l4" has at most 2 (2 nodes × 1) and pool "l4x4" has at most 4 '
                '(1 node × 4); raise the maximum of pool "l4" to 5 (3 more nodes, USD 2.93 '
                "more per hour)",
            )
        ],
    ),
    "only one pool fits, and its count is fixed": (
        [{"pods": 3, "devices": 2}],
        {"pools": TWO_POOLS},
        [
            (
                "pool-maximum-too-small",
                "claim default/train-gpu (Job default/train): the pods' claims need 6 devices in "
                'total, but pool "l4x4" has at most 4 (1 node × 4); set the count of pool "l4x4" to 2 (1 '
                "more node, USD 4.60 more per hour)",
            )
        ],
    ),
    "other workloads take the devices": (
        [{"pods": 3}, {"pods": 4, "name": "other"}],
        {},
        [
            (
                "pool-maximum-too-small",
                "claim default/train-gpu (Job default/train): the pods' claims need 3 devices in "
                'total, but other workloads use all 4 devices of pool "l4" (4 nodes × 1); '
                'raise the maximum of pool "l4" to 7 (3 more nodes, USD 2.93 more per hour)',
            )
        ],
    ),
    "no node has enough devices": (
        [{"devices": 2}],
        {},
        [
            (
                "claim-fits-no-pool",
                'claim default/train-gpu (Job default/train) doesn\'t fit any pool: pool "l4" (g6.2xlarge) '
                "has 1 device per node, but each pod needs 2; add a pool with one of these machine "
                "types: g5g.16xlarge (2 × NVIDIA T4G, 15 GiB each, arm64, USD 2.74 per hour), "
                "g4dn.12xlarge (4 × Tesla T4, 15 GiB each, USD 3.91 per hour), or g6.12xlarge (4 × "
                'NVIDIA L4, 22.49 GiB each, USD 4.60 per hour); or request 1 device instead of 2 in request "gpu"',
            )
        ],
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_claims_and_pools_get_the_expected_findings(declare: SimpleNamespace, name: str) -> None:
    jobs, fleet, expected = SENTENCES[name]
    manifests = "---\n".join(declare.job(**{"pods": 2, **each}) for each in jobs)

    entries = Judge(RULES).of_resource(declare.record(manifests=manifests, **fleet))

    assert sorted({rule for rule, _ in rules_and_texts(entries)}) == sorted(
        {rule for rule, _ in expected}
    )
    for entry in expected:
        assert entry in rules_and_texts(entries)


NEAREST = {
    "a selector that matches nothing": ({"selector": VOLTA}, "architecture == 'Volta'"),
    "a forgotten toleration": ({"tolerates": False}, "nvidia.com/gpu=present:NoSchedule"),
    "more cpu than a node has": ({"cpu": "100"}, "requests 100 CPUs"),
}


@pytest.mark.parametrize("name", NEAREST)
def test_a_claim_that_fits_no_pool_names_the_nearest_miss_and_a_fix(
    declare: SimpleNamespace, name: str
) -> None:
    changes, words = NEAREST[name]

    (found,) = Judge(RULES).of_resource(declare.record(manifests=declare.job(**changes)))

    assert found.rule.id == "claim-fits-no-pool"
    assert words in found.finding.message
    assert found.finding.fix
    assert found.finding.urn == declare.record().urn


def test_attributes_known_only_at_run_time_give_advice_for_the_stack(
    declare: SimpleNamespace,
) -> None:
    judge, record = Judge(RULES), declare.record(manifests=declare.job(1, selector=UUID))

    assert judge.of_resource(record) == ()
    ((rule, sentence),) = of_claims(judge.of_stack([record, declare.node_group(counts=(2, 2, 4))]))

    assert rule == "claim-cannot-be-judged"
    assert "uuid is known only at run time" in sentence


def test_a_missing_template_gives_advice(declare: SimpleNamespace) -> None:
    manifests = declare.job().partition("---")[2]

    ((rule, sentence),) = of_claims(Judge(RULES).of_stack([declare.record(manifests=manifests)]))

    assert rule == "claim-cannot-be-judged"
    assert "ResourceClaimTemplate default/train-gpus isn't in the manifests" in sentence


def test_a_plan_with_an_unknown_machine_type_cannot_be_checked(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dra_planner import catalog
    from dra_planner.errors import CatalogError
    from dra_policies.stack import judgement

    record = declare.record(manifests=declare.job())

    def unknown(cloud: str, name: str) -> None:
        raise CatalogError(f"no {name}", fix="take another")

    judgement._judged.cache_clear()
    monkeypatch.setattr(catalog, "machine", unknown)

    ((rule, sentence),) = rules_and_texts(Judge(RULES).of_resource(record))

    assert rule == "plan-record-invalid"
    assert "can't be checked" in sentence


# The stack differs from its plan: which findings about claims are reported at the end.
DECLARED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "as planned": ({}, []),
    "a smaller maximum": ({"counts": (0, 1, 1)}, ["pool-maximum-too-small"]),
    "a larger maximum": ({"counts": (2, 2, 9)}, []),
    "another GPU": ({"machine": "g4dn.xlarge"}, ["claim-fits-no-pool"]),
    "a taint that no pod tolerates": (
        {"taints": [{"key": "team", "value": "a", "effect": "NO_SCHEDULE"}]},
        ["claim-fits-no-pool"],
    ),
    "no pool": ({"labels": {}}, []),  # the pool is missing then, which another rule reports
}
L4 = "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA L4'"


@pytest.mark.parametrize("name", DECLARED)
def test_demand_is_checked_against_the_declared_pools(declare: SimpleNamespace, name: str) -> None:
    changes, expected = DECLARED[name]
    record = declare.record(manifests=declare.job(2, selector=L4))

    entries = Judge(RULES).of_stack([declare.node_group(**changes), record])

    assert [rule for rule, _ in of_claims(entries)] == expected
    assert ("pool-differs-from-plan" in named(entries)) == (name != "as planned")


def test_the_machine_type_of_a_launch_template_is_used(declare: SimpleNamespace) -> None:
    template = declare.resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "lt", {"instanceType": "g4dn.xlarge"}
    )
    group = declare.node_group(instanceTypes=None, sources={"launchTemplate": (template.urn,)})
    record = declare.record(manifests=declare.job(2, selector=L4))

    assert [rule for rule, _ in of_claims(Judge(RULES).of_stack([group, record, template]))] == [
        "claim-fits-no-pool"
    ]


def test_a_computed_disk_size_next_to_a_launch_template_is_accepted(
    declare: SimpleNamespace,
) -> None:
    """After `up`, a group whose template describes the disk has a diskSize of 0."""
    template = declare.resource("aws:ec2/launchTemplate:LaunchTemplate", "lt", {})
    record = declare.record(manifests=declare.job(2, selector=L4))

    def broken_rules(size: int) -> set[str]:
        group = declare.node_group(
            diskSize=size,
            launchTemplate={"id": "lt-1"},
            sources={"launchTemplate": (template.urn,)},
        )
        return {*named(Judge(RULES).of_stack([group, record, template]))} & {
            "pool-refused-by-cloud",
            "disk-too-small",
        }

    assert broken_rules(0) == set()
    assert broken_rules(100) == {"pool-refused-by-cloud"}


def test_values_that_eks_adds_to_a_node_group_are_accepted(declare: SimpleNamespace) -> None:
    """After `up`, a group with a custom image has a version and the machine type of its
    template.
    """
    template = declare.resource("aws:ec2/launchTemplate:LaunchTemplate", "lt", {"imageId": "ami-1"})
    record = declare.record(manifests=declare.job(2, selector=L4))

    def broken_rules(**made: str) -> set[str]:
        sources = {"launchTemplate": (template.urn,)}
        group = declare.node_group(amiType="CUSTOM", version="1.34", sources=sources, **made)
        return {*named(Judge(RULES).of_stack([group, record, template]))} & {
            "pool-refused-by-cloud"
        }

    assert broken_rules() == {"pool-refused-by-cloud"}
    assert broken_rules(arn="arn:aws:eks:us-east-1:111122223333:nodegroup/l4") == set()


def test_the_driver_version_of_the_stack_is_used(declare: SimpleNamespace) -> None:
    """The PCI address is called pcieBusID up to 25.8.1, and has another name since 25.12.0."""
    selector = "device.attributes['gpu.nvidia.com'].pcieBusID == 'x'"
    record = declare.record(manifests=declare.job(2, selector=selector))
    newer, same = (
        declare.release("nvidia-dra-driver-gpu", version=each) for each in ("25.12.0", "25.8.1")
    )

    with_newer = of_claims(Judge(RULES).of_stack([record, declare.node_group(), newer]))
    with_same = of_claims(Judge(RULES).of_stack([record, declare.node_group(), same]))

    assert [rule for rule, _ in with_same] == ["claim-cannot-be-judged"]
    assert [rule for rule, _ in with_newer] == ["claim-fits-no-pool"]


SHARED = {"featureGates": {"ConsumableShares": True}, "consumableShares": "4"}


@pytest.mark.parametrize(
    ("values", "fits"),
    [(SHARED, True), ({}, False), (UNKNOWN, True), ({**SHARED, "consumableShares": UNKNOWN}, True)],
    ids=["as planned", "missing shares", "unknown values", "unknown shares"],
)
def test_the_driver_values_of_the_stack_are_used(
    declare: SimpleNamespace, values: Any, fits: bool
) -> None:
    """Eight pods fit on two nodes with one GPU each only if each GPU is shared by four pods. The
    plan's values are used for unknown values of the driver.
    """
    nvidia = {"version": "0.5.0", **SHARED}
    record = declare.record(manifests=declare.job(8), kubernetes="1.36", drivers={"nvidia": nvidia})
    driver = declare.release("dra-driver-nvidia-gpu", values, version="0.5.0")

    broken_rules = named(
        Judge(RULES).of_stack([record, declare.node_group(counts=(2, 2, 2)), driver])
    )

    assert ("pool-maximum-too-small" not in broken_rules) == fits


def test_unknown_counts_are_taken_from_the_plan(declare: SimpleNamespace) -> None:
    record = declare.record(manifests=declare.job(8))

    entries = Judge(RULES).of_stack([record, declare.node_group(scalingConfig=UNKNOWN)])

    assert "pool-maximum-too-small" in named(entries)
    assert any(
        "isn't known yet, so the planned value is used instead" in sentence
        for _, sentence in rules_and_texts(entries)
    )


DEPLOYMENT = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: gpu}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com}}}}]}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  strategy: {strategy}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
      containers: [{{name: main, image: i, resources: {{claims: [{{name: gpu}}]}}}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu}}]
"""
IN_PLACE = "{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"

ROLLOUTS = {
    "capacity for the surge": (3, "{}", []),
    "no capacity for the surge": (
        4,
        "{}",
        [
            (
                "scaling-exceeds-pools",
                "Deployment default/web fits the pools now, but during a rollout (5 pods), 1 pod "
                'would stay pending; raise the maximum of pool "l4" to 5 (1 more node during a '
                "rollout, USD 0.98 more per hour), or set the "
                "rollout's maxSurge to 0 and maxUnavailable to 1",
            )
        ],
    ),
    "a rollout that adds nothing": (4, IN_PLACE, []),
}


@pytest.mark.parametrize("name", ROLLOUTS)
def test_rollout_surge_is_checked(declare: SimpleNamespace, name: str) -> None:
    replicas, strategy, expected = ROLLOUTS[name]
    manifests = DEPLOYMENT.format(replicas=replicas, strategy=strategy)

    assert (
        rules_and_texts(Judge(RULES).of_resource(declare.record(manifests=manifests))) == expected
    )


class TestWorkloadsOfTheStack:
    """Claims, classes, and workloads that the stack declares as resources."""

    def stack(self, declare: SimpleNamespace, *more: Resource, **plan: Any) -> list[Resource]:
        return [declare.record(**plan), declare.node_group(), *more]

    def test_fitting_workloads_have_no_findings(self, declare: SimpleNamespace) -> None:
        stack = self.stack(declare, *declare.job_resources(2))

        assert rules_and_texts(Judge(RULES).of_stack(stack)) == []

    def test_a_claim_finding_names_the_template_and_points_to_the_workload(
        self, declare: SimpleNamespace
    ) -> None:
        template, job = declare.job_resources(8)

        (found,) = Judge(RULES).of_stack(self.stack(declare, template, job))

        assert found.finding.urn == job.urn
        assert str(found.finding).startswith(
            'claim default/train-gpu (template "train-gpus", Job default/train): the pods\' '
            "claims need 8 devices in total, but"
        )

    def test_workloads_are_checked_before_they_are_created(self, declare: SimpleNamespace) -> None:
        judge = Judge(RULES)
        template, job = declare.job_resources(2, devices=2)
        first = [
            entry for each in self.stack(declare, template) for entry in judge.of_resource(each)
        ]

        ((rule, _),) = rules_and_texts(judge.of_resource(job))

        assert first == []
        assert rule == "claim-fits-no-pool"

    def test_a_workload_before_its_template_is_checked_with_the_stack(
        self, declare: SimpleNamespace
    ) -> None:
        judge = Judge(RULES)
        template, job = declare.job_resources(2, devices=2)
        stack = self.stack(declare, job, template)

        broken_rules = {each.name: named(judge.of_resource(each)) for each in stack}

        assert broken_rules["train"] == []
        assert named(judge.of_stack(stack)) == ["claim-fits-no-pool"]

    def test_workloads_of_the_stack_add_to_the_plans_demand(self, declare: SimpleNamespace) -> None:
        planned = declare.job(3, name="planned")
        fits, too_many = declare.job_resources(1), declare.job_resources(2)

        assert of_claims(Judge(RULES).of_stack(self.stack(declare, *fits, manifests=planned))) == []
        entries = Judge(RULES).of_stack(self.stack(declare, *too_many, manifests=planned))
        assert "pool-maximum-too-small" in named(entries)

    def test_a_workload_in_both_plan_and_stack_counts_once(self, declare: SimpleNamespace) -> None:
        stack = self.stack(declare, *declare.job_resources(4), manifests=declare.job(4))

        assert of_claims(Judge(RULES).of_stack(stack)) == []

    def test_the_resource_takes_precedence_over_the_plan(self, declare: SimpleNamespace) -> None:
        stack = self.stack(declare, *declare.job_resources(5), manifests=declare.job(2))

        assert "pool-maximum-too-small" in named(Judge(RULES).of_stack(stack))

    def test_a_class_of_the_stack_takes_precedence_over_the_plans_class(
        self, declare: SimpleNamespace
    ) -> None:
        selectors = [{"cel": {"expression": f"device.driver == 'gpu.nvidia.com' && {VOLTA}"}}]
        own = declare.kubernetes(
            "DeviceClass", "resource.k8s.io/v1", "gpu.nvidia.com", spec={"selectors": selectors}
        )

        assert "claim-fits-no-pool" in named(
            Judge(RULES).of_stack(self.stack(declare, *declare.job_resources(), own))
        )

    def test_inputs_are_used_if_there_are_no_outputs(self, declare: SimpleNamespace) -> None:
        """The first preview of a cluster is such a case."""
        judge = Judge(RULES)
        stack = self.stack(declare, *declare.job_resources(8))
        for each in stack:
            judge.of_resource(each)
        bare = [
            Resource(urn=each.urn, type=each.type, name=each.name, props=type(each.props)({}))
            for each in stack[2:]
        ]

        # their inputs were never analysed
        assert named(Judge(RULES).of_stack([*stack[:2], *bare])) == ["stack-cannot-be-judged"]
        assert (
            of_claims(judge.of_stack([*stack[:2], *bare])) == []
        )  # reported when they were analysed
        assert of_claims(Judge(RULES).of_stack(stack)) != []

    def test_irrelevant_unknown_values_are_ignored(self, declare: SimpleNamespace) -> None:
        template, job = declare.job_resources(8)
        job.props.at("spec.template.spec.containers")[0]["image"] = UNKNOWN
        job.props.at("spec.template.spec.containers")[0]["env"] = [
            {"name": "BUCKET", "value": UNKNOWN}
        ]

        assert named(Judge(RULES).of_stack(self.stack(declare, template, job))) == [
            "pool-maximum-too-small"
        ]

    def test_relevant_unknown_values_are_reported(self, declare: SimpleNamespace) -> None:
        template, job = declare.job_resources(8)
        job.props.values["spec"]["parallelism"] = UNKNOWN

        ((rule, sentence),) = rules_and_texts(
            Judge(RULES).of_stack(self.stack(declare, template, job))
        )

        assert rule == "stack-cannot-be-judged"
        assert (
            sentence
            == 'can\'t check Job "train", because spec.parallelism is secret or not known yet'
        )

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("team", "pool-maximum-too-small"), (UNKNOWN, "stack-cannot-be-judged")],
    )
    def test_a_namespace_that_does_not_exist_yet_is_resolved(
        self, declare: SimpleNamespace, name: Any, expected: str
    ) -> None:
        namespace = declare.kubernetes("Namespace", "core/v1", name)
        objects = [
            replace(each, sources={"metadata": (namespace.urn,)})
            for each in declare.job_resources(8)
        ]
        for each in objects:
            each.props.values["metadata"]["namespace"] = UNKNOWN

        entries = Judge(RULES).of_stack(self.stack(declare, namespace, *objects))

        assert expected in named(entries)
        assert ("pool-maximum-too-small" in named(entries)) == (name == "team")

    def test_a_stack_without_a_plan_is_checked_by_its_resources(
        self, declare: SimpleNamespace
    ) -> None:
        cluster = declare.resource(
            "aws:eks/cluster:Cluster", "c", {"version": "1.34", "region": "us-east-1"}
        )
        driver = declare.release("nvidia-dra-driver-gpu", version="25.8.1")
        stack = [cluster, driver, declare.node_group(), *declare.job_resources(8)]

        entries = Judge(RULES).of_stack(stack)

        assert {"pool-maximum-too-small", "plan-record-missing"} <= set(named(entries))

    def test_a_stack_without_enough_information_cannot_be_checked(
        self, declare: SimpleNamespace
    ) -> None:
        entries = Judge(RULES).of_stack([declare.node_group(), *declare.job_resources(8)])

        assert "plan-record-missing" in named(entries)
        assert any(
            "set its Kubernetes version and driver version" in sentence
            for _, sentence in rules_and_texts(entries)
        )

    def test_a_stack_without_a_region_is_checked_in_a_region_of_its_machine_types(
        self, declare: SimpleNamespace
    ) -> None:
        cluster = declare.resource("aws:eks/cluster:Cluster", "c", {"version": "1.34"})
        driver = declare.release("nvidia-dra-driver-gpu", version="25.8.1")
        stack = [cluster, driver, declare.node_group(), *declare.job_resources(8)]

        entries = Judge(RULES).of_stack(stack)

        assert "pool-maximum-too-small" in named(entries)
        assert any(
            "the region isn't declared, so the plan uses" in sentence
            for _, sentence in rules_and_texts(entries)
        )


def test_too_many_devices_are_reported_before_too_many_cpus(declare: SimpleNamespace) -> None:
    manifests = declare.job(pods=1, devices=9, cpu="100")

    (found,) = Judge(RULES).of_resource(declare.record(manifests=manifests, pools=TWO_POOLS))

    assert found.rule.id == "claim-fits-no-pool"
    assert "has 4 devices per node, but each pod needs 9" in found.finding.message
    assert "CPU" not in found.finding.message
    assert "request at most 4 devices per pod, the most on any node" in found.finding.fix
