"""A reason names the pod set that it concerns, if the workload has others, in plan and check."""

from __future__ import annotations

import pytest
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.4xlarge}
drivers: {nvidia: {version: 0.5.0}}
pools: [{name: l4, machine: g6.48xlarge, count: {min: 0, max: 5}}]
"""
TOLERATION = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"


def role(replicas: int, resources: str, more: str) -> str:
    container = f"{{name: c, image: registry.example/c:1, resources: {{{resources}}}}}"
    return f"{{replicas: {replicas}, template: {{spec: {{{more}, containers: [{container}]}}}}}}"


def job(launcher: str, worker: str, *, launchers: int = 1) -> str:
    return f"""\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: train, namespace: ml}}
spec:
  mpiReplicaSpecs:
    Launcher: {role(launchers, 'requests: {cpu: "1", memory: 1Gi}', launcher)}
    Worker: {role(2, "limits: {nvidia.com/gpu: 1}", worker)}
"""


def answer(project: Project, command: str, text: str) -> tuple[int, str]:
    project.write("fleet.yaml", FLEET)
    project.write("job.yaml", text)
    done = project.run(command, "job.yaml", "--fleet", "fleet.yaml")
    return done.status, " ".join(done.out.split())


def test_each_reason_names_its_pod_set(project: Project) -> None:
    text = job("nodeSelector: {pool: a}", f"{TOLERATION}, nodeSelector: {{pool: b}}")

    status, planned = answer(project, "plan", text)
    assert status == 1
    assert "Worker (l4): the pod selects nodes with pool=b" in planned
    assert "Launcher (system): the pod selects nodes with pool=a" in planned

    status, checked = answer(project, "check", text)
    assert status == 1
    assert "(MPIJob ml/train, Worker) doesn't fit any pool" in checked
    assert "MPIJob ml/train (Launcher) doesn't fit on the system pool" in checked


def test_reason_of_every_pod_set_names_none(project: Project) -> None:
    same = "nodeSelector: {pool: a}"
    _, planned = answer(project, "plan", job(same, f"{TOLERATION}, {same}"))
    assert "l4, system: the pod selects nodes with pool=a" in planned
    assert "Worker" not in planned


def test_one_finding_names_all_pod_sets_with_the_same_reason(project: Project) -> None:
    jobs = "".join(
        f"  - {{name: {name}, template: {{spec: {{template: {{spec: {{nodeSelector: {{pool: a}}, "
        f"containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}}}\n"
        for name in ("driver", "worker")
    )
    text = (
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
        f"metadata: {{name: train, namespace: ml}}\nspec:\n  replicatedJobs:\n{jobs}"
    )
    _, checked = answer(project, "check", text)
    assert checked.count("doesn't fit on the system pool") == 1
    assert "JobSet ml/train (driver, worker) doesn't fit on the system pool" in checked


def test_one_finding_names_all_pod_sets_whose_claims_fit_alike_nowhere(project: Project) -> None:
    same = f"{TOLERATION}, nodeSelector: {{pool: a}}"
    text = job(same, same).replace(
        'requests: {cpu: "1", memory: 1Gi}', "limits: {nvidia.com/gpu: 1}"
    )
    _, checked = answer(project, "check", text)
    assert checked.count("doesn't fit any pool") == 1
    assert "(MPIJob ml/train, Launcher, Worker) doesn't fit any pool" in checked


@pytest.mark.parametrize("launchers", [1, 900])
def test_claims_that_fit_are_not_short_if_the_system_pool_is(
    project: Project, launchers: int
) -> None:
    launcher = "restartPolicy: Never" if launchers > 1 else "nodeSelector: {pool: a}"
    text = job(launcher, TOLERATION, launchers=launchers)

    status, checked = answer(project, "check", text)

    assert status == 1
    assert checked.count("doesn't fit on the system pool") == 1
    assert "MPIJob ml/train (Launcher) doesn't fit on the system pool" in checked
    assert "the claims need" not in checked
