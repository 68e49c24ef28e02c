"""Which objects of manifests are applied, and in which order."""

from __future__ import annotations

import pytest
from plans import POD, TEMPLATE, deployment, plan_of, sources

from dra_planner.sources import Source
from dra_sandbox.rehearsal.workloads import ANNOTATION, WorkloadOrder, Workloads, read_workloads


def read(*documents: str) -> Workloads:
    given = sources(*documents)
    manifests = plan_of(given).manifests
    assert manifests is not None
    return read_workloads(given, manifests)


def test_dependencies_come_first_and_pods_are_annotated() -> None:
    found = read(deployment("web", 2))

    assert [each["kind"] for each in found.first] == ["ResourceClaimTemplate"]
    (web,) = found.arrivals
    template = web.objects[0]["spec"]["template"]
    assert template["metadata"]["annotations"] == {ANNOTATION: "Deployment/default/web"}
    assert template["metadata"]["labels"] == {"app": "web"}


def test_only_undeclared_namespaces_are_created() -> None:
    declared = "apiVersion: v1\nkind: Namespace\nmetadata: {name: declared}\n"
    there = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: declared}\nspec: " + POD + "\n"
    )
    elsewhere = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: made}\nspec: " + POD + "\n"
    )

    found = read(declared, there, elsewhere)

    names = [each["metadata"]["name"] for each in found.first if each["kind"] == "Namespace"]
    assert names == ["made", "declared"]


def test_kinds_without_a_controller_are_created_as_pods() -> None:
    job_set = f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train}}
spec:
  replicatedJobs:
    - name: worker
      replicas: 2
      template: {{spec: {{parallelism: 3, completions: 3, template: {{spec: {POD}}}}}}}
"""

    (train,) = read(job_set).arrivals

    assert train.made_here
    assert [pod["metadata"]["name"] for pod in train.objects] == [
        f"train-{index}" for index in range(6)
    ]
    assert {pod["metadata"]["annotations"][ANNOTATION] for pod in train.objects} == {
        "JobSet/default/train"
    }
    assert all(pod["spec"]["resourceClaims"] for pod in train.objects)


def test_volumes_to_provision_become_empty_directories() -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: main, image: any}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""

    (arrival,) = read(pod).arrivals

    assert arrival.objects[0]["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}]


def test_irrelevant_objects_are_only_counted() -> None:
    found = read("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")

    assert (found.arrivals, found.left_out) == ((), {"ConfigMap": 1})


def test_the_manifests_are_unchanged() -> None:
    given = (Source("w.yaml", f"{TEMPLATE}---\n{deployment('web', 2)}"),)
    plan = plan_of(given)
    assert plan.manifests is not None

    read_workloads(given, plan.manifests)

    assert plan_of(given).workloads == plan.workloads
    assert given[0].text == f"{TEMPLATE}---\n{deployment('web', 2)}"


@pytest.mark.parametrize(
    ("text", "names"),
    [("document", ["a", "b", "c"]), ("reversed", ["c", "b", "a"]), ("random:1", ["b", "c", "a"])],
)
def test_workloads_are_ordered(text: str, names: list[str]) -> None:
    found = read(*(deployment(name, 1) for name in "abc"))

    order = WorkloadOrder.parse(text)

    assert [each.workload.name for each in order.arrange(found.arrivals)] == names
    assert str(order) == text


@pytest.mark.parametrize("text", ["", "random", "random:x", "document:1", "sorted"])
def test_invalid_orders_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="order; use document, reversed, or random:N"):
        WorkloadOrder.parse(text)
