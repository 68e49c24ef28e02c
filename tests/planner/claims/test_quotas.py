"""Quotas: how many pods and claims of a namespace would be admitted."""

# a manifest reads best in one piece
from __future__ import annotations

import pytest

from dra_planner.claims import expand_claims
from dra_planner.model import DeviceClass, Figures, ObjectKey, ObjectMeta
from dra_planner.model.demand import Demand
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

CLASSES = {"gpu.nvidia.com": DeviceClass(meta=ObjectMeta(name="gpu.nvidia.com"))}
TEMPLATE = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: two}, spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}}"
CLAIM = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}"


def workload(entry: str = "resourceClaimTemplateName: two", resources: str = "{}") -> str:
    pod = f"{{containers: [{{name: m, image: i, resources: {resources}}}], resourceClaims: [{{name: g, {entry}}}]}}"
    return f"{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: s}}, spec: {{replicas: 5, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {pod}}}}}}}"


def quota(hard: str, more: str = "") -> str:
    return f"{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q}}, spec: {{hard: {{{hard}}}{more}}}}}"


def demand(*documents: str) -> Demand:
    features = features_of(36)
    text = "---\n" + "\n---\n".join(documents)
    return expand_claims(read_checked([Source("m.yaml", text)], features), CLASSES, features)


@pytest.mark.parametrize(
    ("hard", "admitted"),
    [
        ("gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 8", 4),  # two devices each
        ("gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 7", 3),
        ("count/resourceclaims.resource.k8s.io: 2", 2),
        ("pods: 3", 3),
        ("pods: 3, count/resourceclaims.resource.k8s.io: 1", 1),
        ("requests.cpu: 1500m", 3),  # half a core each
        ("requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com: 4", 2),
        ("other.deviceclass.resource.k8s.io/devices: 0", 5),
        ("pods: 100", 5),
    ],
)
def test_quota_admits_the_expected_number_of_pods(hard: str, admitted: int) -> None:
    result = demand(TEMPLATE, workload(resources="{requests: {cpu: 500m}}"), quota(hard))
    assert sum(shape.figures.steady for shape in result.shapes) == admitted
    left = sum((blocked.member.figures for blocked in result.blocked), Figures.fixed(0))
    assert left == Figures.fixed(5 - admitted)
    assert all(blocked.reason.code == "quota-exceeded" for blocked in result.blocked)
    assert all(
        "ResourceQuota default/q limits" in blocked.reason.message for blocked in result.blocked
    )


@pytest.mark.parametrize(
    ("hard", "fix"),
    [
        (
            "gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 7",
            "raise gpu.nvidia.com.deviceclass.resource.k8s.io/devices in ResourceQuota default/q "
            "to 10, or request fewer devices",
        ),
        (
            "pods: 3, requests.cpu: 1500m",
            "raise the pod limit in ResourceQuota default/q to 5 and raise requests.cpu in ResourceQuota "
            "default/q to 2500m, or create fewer pods",
        ),
        (
            "requests.cpu: 1500m",
            "raise requests.cpu in ResourceQuota default/q to 2500m, or lower the pods' requests "
            "and limits",
        ),
        (
            "count/resourceclaims.resource.k8s.io: 3",
            "raise count/resourceclaims.resource.k8s.io in ResourceQuota default/q to 5, or "
            "create fewer of these objects",
        ),
    ],
)
def test_fix_names_the_limits_with_which_all_pods_are_created(hard: str, fix: str) -> None:
    result = demand(TEMPLATE, workload(resources="{requests: {cpu: 500m}}"), quota(hard))
    assert {blocked.reason.fix for blocked in result.blocked} == {fix}


def test_raised_limit_allows_the_rollout() -> None:
    deployment = workload().replace("kind: StatefulSet", "kind: Deployment")
    result = demand(TEMPLATE, deployment, quota("pods: 4"))
    fix = "raise the pod limit in ResourceQuota default/q to 7 (for peak demand), or create fewer pods"
    assert {blocked.reason.fix for blocked in result.blocked} == {fix}


def test_pods_that_wait_for_claims_count_toward_the_pod_quota() -> None:
    """Of the pods, three are created, but only one of their claims is created. Two other pods are
    rejected.
    """
    at_once = workload().replace("{replicas: 5", "{podManagementPolicy: Parallel, replicas: 5")
    result = demand(TEMPLATE, at_once, quota("pods: 3, count/resourceclaims.resource.k8s.io: 1"))
    assert [(each.created, each.member.figures.steady) for each in result.blocked] == [
        (True, 2),
        (False, 2),
    ]
    assert "limits count/resourceclaims" in result.blocked[0].reason.message
    assert "limits pods to 3" in result.blocked[1].reason.message


def test_stateful_set_creates_one_pod_at_a_time() -> None:
    """Those after it are made when it runs."""
    result = demand(TEMPLATE, workload(), quota("count/resourceclaims.resource.k8s.io: 2"))
    assert [(each.created, each.member.figures.steady) for each in result.blocked] == [
        (True, 1),
        (False, 2),
    ]


@pytest.mark.parametrize(
    ("hard", "resources", "refused"),
    [
        ("requests.cpu: 20", "{}", "requests.cpu"),
        ("limits.memory: 20Gi", "{requests: {memory: 1Gi}}", "limits.memory"),
        (
            "requests.cpu: 20, requests.memory: 20Gi",
            "{}",
            "requests.cpu and requests.memory",
        ),
        ("cpu: 20", "{limits: {cpu: 1}}", None),  # the limit is the request
        ("requests.cpu: 20", "{requests: {cpu: 1}}", None),
        ("requests.nvidia.com/gpu: 1", "{}", None),  # pods must set only cpu and memory
        ("requests.ephemeral-storage: 1Gi", "{}", None),
        ("pods: 9", "{}", None),
    ],
)
def test_quota_rejects_pods_without_the_limited_resources(
    hard: str, resources: str, refused: str | None
) -> None:
    result = demand(TEMPLATE, workload(resources=resources), quota(hard))
    messages = [blocked.reason.message for blocked in result.blocked]
    text = (
        f'ResourceQuota default/q limits {refused}, which container "m" doesn\'t set, so the API '
        "server rejects the pods"
    )
    assert messages == ([text] if refused else [])
    assert sum(shape.figures.steady for shape in result.shapes) == (0 if refused else 5)


def test_pod_level_requests_satisfy_a_quota() -> None:
    whole = workload().replace("{containers:", "{resources: {requests: {cpu: 1}}, containers:")
    assert demand(TEMPLATE, whole, quota("requests.cpu: 20, requests.memory: 20Gi")).blocked == ()


def test_limit_range_defaults_satisfy_a_quota() -> None:
    defaults = "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}}"
    assert demand(TEMPLATE, workload(), quota("requests.cpu: 20"), defaults).blocked == ()


def test_named_claim_is_charged_once_before_the_pods() -> None:
    entry = "resourceClaimName: c"
    assert (
        demand(CLAIM, workload(entry), quota("count/resourceclaims.resource.k8s.io: 1")).blocked
        == ()
    )
    (blocked,) = demand(
        CLAIM, workload(entry), quota("count/resourceclaims.resource.k8s.io: 0")
    ).blocked
    assert (blocked.verdict, blocked.reason.code, blocked.reason.claim) == (
        "does-not-fit",
        "quota-exceeded",
        "default/c",
    )


def test_scoped_quota_applies_only_to_its_pods() -> None:
    scope = ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [system-node-critical]}]}"
    assert demand(TEMPLATE, workload(), quota("pods: 0", scope)).blocked == ()


def test_existing_usage_counts_toward_a_quota() -> None:
    used = quota("pods: 5").replace("}}}", "}}, status: {used: {pods: 4}}}")
    result = demand(TEMPLATE, workload(), used)
    assert sum(shape.figures.steady for shape in result.shapes) == 1
    assert result.quotas is not None
    assert result.quotas.room == {(ObjectKey("default", "q"), "pods"): 1000}


@pytest.mark.parametrize(
    ("hard", "charge", "refused"),
    [
        ("pods: 3", {"pods": 1000}, 2),
        ("requests.cpu: 1", {"requests.cpu": 500}, 3),
        ("pods: 3, gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 20", None, 2),
        ("other.deviceclass.resource.k8s.io/devices: 0", {}, 0),
    ],
)
def test_charges_of_a_pod_and_rejected_pods_are_recorded(
    hard: str, charge: dict[str, int] | None, refused: int
) -> None:
    """The simulation uses these numbers to admit pods in arrival order."""
    given = demand(TEMPLATE, workload(resources="{requests: {cpu: 500m}}"), quota(hard)).quotas
    assert given is not None
    ((key, charges),) = given.charges.items()
    if charge is None:
        charge = {"pods": 1000, "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": 2000}
    assert charges == {
        (ObjectKey("default", "q"), resource): amount for resource, amount in charge.items()
    }
    assert given.refused.get(key, Figures.fixed(0)) == Figures.fixed(refused)


def test_pods_without_limited_resources_are_never_created() -> None:
    assert demand(TEMPLATE, workload(), quota("requests.cpu: 20")).quotas is None
