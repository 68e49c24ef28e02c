"""`plan --gate`, and the examples that apply the gate: the commands of the Argo CD job, and an
up-to-date gate file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from command_project import EXAMPLES, Project

ARGO = EXAMPLES / "gitops/argo"


def test_gate_of_the_example_is_up_to_date(tmp_path: Path) -> None:
    for name in ("workload.yaml", "fleet.yaml"):
        shutil.copy(ARGO / name, tmp_path)

    done = Project(tmp_path).run(
        "plan", "workload.yaml", "--fleet", "fleet.yaml", "--gate", "gate.yaml", "-q"
    )

    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "gate.yaml").read_text() == (ARGO / "gate.yaml").read_text()


def test_presync_job_passes_and_fails_with_the_plan(tmp_path: Path) -> None:
    job = yaml.safe_load((ARGO / "presync.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (generated,) = yaml.safe_load((ARGO / "kustomization.yaml").read_text())["configMapGenerator"]
    for name in generated["files"]:
        shutil.copy(ARGO / name, tmp_path)

    def run() -> int:
        words = [sys.executable, "-m", "dra_command", *container["args"]]
        return subprocess.run(
            words, cwd=tmp_path, env=dict(os.environ), capture_output=True, check=False
        ).returncode

    assert run() == 0
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(fleet.read_text().replace("max: 4", "max: 0"))
    assert run() == 1


def test_snapshot_has_no_gate(project: Project) -> None:
    done = project.run("plan", "workloads", "--observed", "cluster.json", "--gate", "gate.yaml")
    assert (done.status, "--gate can't be combined with --observed" in done.err) == (2, True)


def test_flux_applies_the_gate_and_the_planned_workloads(project: Project) -> None:
    project.write("flux/all.yaml", (ARGO.parent / "flux" / "kustomizations.yaml").read_text())
    (project.root / "gate").mkdir()

    gate = project.run("plan", "--stack", "dev", "--gate", "gate/gate.yaml")
    plan = project.run("plan", "flux", "--stack", "dev", "--format", "json")

    assert (gate.status, plan.status) == (0, 0), plan.err
    kinds = {
        each["kind"] for each in yaml.safe_load_all((project.root / "gate/gate.yaml").read_text())
    }
    assert "ValidatingAdmissionPolicy" in kinds
    found = json.loads(plan.out)
    assert (
        found["workloads"]
        == json.loads(project.run("plan", "--stack", "dev", "--format", "json").out)["workloads"]
    )


class TestCheck:
    WORDS = ("plan", "--stack", "dev", "--gate", "gate.yaml", "-q")

    def test_current_gate_passes(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write", "--gate", "gate.yaml").status == 0
        assert project.run(*self.WORDS, "--check").status == 0

    def test_changed_gate_fails_and_is_not_overwritten(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write", "--gate", "gate.yaml").status == 0
        changed = (project.root / "gate.yaml").read_text().replace("'2'", "'99'")
        project.write("gate.yaml", f"{changed}# mine\n")
        done = project.run(*self.WORDS, "--check")
        assert (done.status, "write it again with --gate gate.yaml" in done.err) == (1, True)
        assert (project.root / "gate.yaml").read_text() == f"{changed}# mine\n"
        assert project.run(*self.WORDS).status == 0
        assert project.run(*self.WORDS, "--check").status == 0

    def test_missing_gate_fails(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write").status == 0
        done = project.run(*self.WORDS, "--check")
        assert (done.status, "create it with --gate gate.yaml" in done.err) == (1, True)
        assert project.run(*self.WORDS).status == 0
        assert project.run(*self.WORDS, "--check").status == 0
