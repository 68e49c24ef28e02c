"""The admission policies of a plan's guards on a real API server: which pods they change, and
how.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from dra_planner.model import Guards, ObjectKey, SteerRule, WorkloadRef
from dra_planner.planfile import placement_policies
from dra_sandbox.control_plane import ApiRejection, ApiServer, Settings, control_plane

Json = dict[str, Any]

pytestmark = pytest.mark.control_plane
MINOR = 36
POOL = "pulumi-dra/pool"
RULE = SteerRule(
    pool="h100-8",
    templates=(ObjectKey("ml", "eight"),),
    workloads=(
        (WorkloadRef("CronJob", "ml", "night-run"), ""),
        (WorkloadRef("Deployment", "ml", "web"), ""),
        (WorkloadRef("Job", "ml", "train"), ""),
        (WorkloadRef("JobSet", "ml", "set"), "worker"),
        (WorkloadRef("LeaderWorkerSet", "ml", "leader"), ""),
        (WorkloadRef("Pod", "ml", "bare"), ""),
        (WorkloadRef("StatefulSet", "ml", "db"), ""),
    ),
)
OTHERS = SteerRule(pool="l4", templates=(ObjectKey("ml", "one"),))
EVEN = SteerRule(pool="l4", templates=(ObjectKey("ml", "even"),), spread="2")


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with control_plane(Settings(MINOR, scheduling=False)) as plane:
        api = ApiServer.of(plane)
        for name in ("ml", "other"):
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            account = {"name": "default", "namespace": name}
            api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        for document in placement_policies(Guards(rules=(RULE, OTHERS, EVEN), packs=True)):
            api.create(document)
        wait_until_active(api)
        yield api


def wait_until_active(api: ApiServer, seconds: float = 60) -> None:
    """Create pods of all rules until they are changed: an API server reads new policies a moment
    later.
    """
    until = time.monotonic() + seconds
    for number in range(1000):
        pods = [
            created(api, f"probe-{at}-{number}", template=name)
            for at, name in enumerate(("eight", "one", "even"))
        ]
        if all(POOL in pod["spec"].get("nodeSelector", {}) for pod in pods):
            return
        assert time.monotonic() < until, "the policies are not active"
        time.sleep(0.5)


def created(
    api: ApiServer,
    name: str,
    *,
    namespace: str = "ml",
    template: str = "",
    owner: tuple[str, str, str] | None = None,
    labels: dict[str, str] | None = None,
    spec: Json | None = None,
) -> Json:
    """Create a pod and return it as the API server stores it."""
    metadata: Json = {"name": name, "namespace": namespace, "labels": labels or {}}
    if owner is not None:
        version, kind, owner_name = owner
        metadata["ownerReferences"] = [
            {
                "apiVersion": version,
                "kind": kind,
                "name": owner_name,
                "uid": "00000000",
                "controller": True,
            }
        ]
    body: Json = {
        "containers": [{"name": "main", "image": "registry.example/app:1"}],
        **(spec or {}),
    }
    if template:
        body["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template}]
    return api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body})


def pool_of(pod: Json) -> str:
    return str(pod["spec"].get("nodeSelector", {}).get(POOL, ""))


OWNED = {
    "of a Deployment": {
        "owner": ("apps/v1", "ReplicaSet", "web-6f7d9c"),
        "labels": {"pod-template-hash": "6f7d9c"},
    },
    "of a Job": {"owner": ("batch/v1", "Job", "train")},
    "of a CronJob": {"owner": ("batch/v1", "Job", "night-run-29384756")},
    "of a StatefulSet": {"owner": ("apps/v1", "StatefulSet", "db")},
    "of a JobSet": {
        "owner": ("batch/v1", "Job", "set-worker-0"),
        "labels": {
            "jobset.sigs.k8s.io/jobset-name": "set",
            "jobset.sigs.k8s.io/replicatedjob-name": "worker",
        },
    },
    "of a LeaderWorkerSet": {
        "owner": ("apps/v1", "StatefulSet", "leader-0"),
        "labels": {"leaderworkerset.sigs.k8s.io/name": "leader"},
    },
    "of a template": {"template": "eight"},
}
NOT_OWNED = {
    "of a Deployment with the same name prefix": {
        "owner": ("apps/v1", "ReplicaSet", "web-2-6f7d9c"),
        "labels": {"pod-template-hash": "6f7d9c"},
    },
    "of a ReplicaSet without a Deployment": {"owner": ("apps/v1", "ReplicaSet", "web")},
    "of a Job with another name": {"owner": ("batch/v1", "Job", "train-2")},
    "of another part of a JobSet": {
        "owner": ("batch/v1", "Job", "set-driver-0"),
        "labels": {
            "jobset.sigs.k8s.io/jobset-name": "set",
            "jobset.sigs.k8s.io/replicatedjob-name": "driver",
        },
    },
    "of another template": {"template": "two"},
    "without an owner": {},
    "in another namespace": {"owner": ("batch/v1", "Job", "train"), "namespace": "other"},
}


@pytest.mark.parametrize("case", OWNED)
def test_pods_of_the_rule_get_its_pool(server: ApiServer, case: str) -> None:
    given: Json = OWNED[case]
    assert pool_of(created(server, case.lower().replace(" ", "-"), **given)) == "h100-8"


def test_a_pod_that_the_rule_names_gets_its_pool(server: ApiServer) -> None:
    assert pool_of(created(server, "bare")) == "h100-8"


@pytest.mark.parametrize("case", NOT_OWNED)
def test_other_pods_are_unchanged(server: ApiServer, case: str) -> None:
    given: Json = NOT_OWNED[case]
    pod = created(server, case.lower().replace(" ", "-"), **given)
    assert pool_of(pod) == ""
    assert "affinity" not in pod["spec"]
    assert "topologySpreadConstraints" not in pod["spec"]


def test_constraints_of_a_pod_are_preserved(server: ApiServer) -> None:
    """Given a pod with its own node selector, affinity, and spread, expect them together with the
    pool and the preference.
    """
    zone = "topology.kubernetes.io/zone"
    near = {
        "weight": 7,
        "podAffinityTerm": {"topologyKey": zone, "labelSelector": {"matchLabels": {"a": "b"}}},
    }
    spread = {"maxSkew": 2, "topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule"}
    pod = created(
        server,
        "choosy",
        template="eight",
        spec={
            "nodeSelector": {"disk": "fast"},
            "affinity": {
                "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [near]}
            },
            "topologySpreadConstraints": [spread],
        },
    )
    assert pod["spec"]["nodeSelector"] == {"disk": "fast", POOL: "h100-8"}
    first, second = pod["spec"]["affinity"]["podAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert first == near
    assert second["weight"] == 100
    assert pod["spec"]["topologySpreadConstraints"] == [spread]


def test_steered_pods_prefer_full_nodes_and_do_not_spread(server: ApiServer) -> None:
    pod = created(server, "plain", template="one")
    assert pool_of(pod) == "l4"
    (near,) = pod["spec"]["affinity"]["podAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert near == {
        "weight": 100,
        "podAffinityTerm": {
            "topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaceSelector": {},
        },
    }  # fmt: skip
    (spread,) = pod["spec"]["topologySpreadConstraints"]
    assert (spread["topologyKey"], spread["whenUnsatisfiable"]) == (POOL, "ScheduleAnyway")


def test_pods_spread_evenly_with_the_other_pods_of_their_rule(server: ApiServer) -> None:
    """Given pods with and without their own labels and spread, expect the rule's label and
    constraint in addition, and no preference for full nodes.
    """
    zone = "topology.kubernetes.io/zone"
    own = {"maxSkew": 2, "topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule"}
    even = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"pulumi-dra/spread": "2"}},
    }
    plain = created(server, "even-plain", template="even")
    assert pool_of(plain) == "l4"
    assert plain["metadata"]["labels"] == {"pulumi-dra/spread": "2"}
    assert plain["spec"]["topologySpreadConstraints"] == [even]
    assert "affinity" not in plain["spec"]
    choosy = created(
        server,
        "even-choosy",
        template="even",
        labels={"app": "choosy"},
        spec={"topologySpreadConstraints": [own]},
    )
    assert choosy["metadata"]["labels"] == {"app": "choosy", "pulumi-dra/spread": "2"}
    assert choosy["spec"]["topologySpreadConstraints"] == [own, even]


def test_the_api_server_checks_the_expressions(server: ApiServer) -> None:
    """Given a policy with a fault in its expression, expect it to be rejected: the other policies
    were checked too.
    """
    first = placement_policies(Guards(rules=(OTHERS,)))[0]
    spec = {
        **first["spec"],
        "matchConditions": [{"name": "wrong", "expression": "object.spec.nothing == 1"}],
    }
    faulty = {**first, "metadata": {"name": "faulty"}, "spec": {**spec, "mutations": [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 1}]"}}
    ]}}  # fmt: skip
    with pytest.raises(ApiRejection):
        server.create(faulty)
