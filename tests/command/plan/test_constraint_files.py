"""plan --constraints: the cheapest fix that the simulation found, as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import EXAMPLES, Project

REHEARSALS = Path(__file__).parents[2] / "planner" / "simulation" / "rehearsals"
WORDS = ("plan", "app.yaml", "--fleet", "fleet.yaml", "--constraints", "fix.yaml")


def given(project: Project, name: str, *, without: str = "") -> None:
    case = yaml.load((REHEARSALS / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    kept = [each for each in case["workloads"] if each["metadata"]["name"] != without]
    project.write("fleet.yaml", yaml.safe_dump(case["fleet"]))
    project.write("app.yaml", yaml.safe_dump_all(kept))


def test_change_of_the_fleet_is_written(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    done = project.run(*WORDS)
    assert done.status == 0
    assert "wrote fix.yaml: add the taint" in done.err
    assert ": USD 6.08 per hour less, and all pods still fit" in " ".join(done.out.split())
    assert "orders, but with other nodes (2 × h100), no pods stay pending." in " ".join(
        done.out.split()
    )
    written = (project.root / "fix.yaml").read_text()
    assert written.startswith("# Add the taint")
    taint = {"key": "pulumi-dra/prefer-other-pools", "value": "true", "effect": "PreferNoSchedule"}
    assert yaml.safe_load(written) == {"pools": [{"name": "h100", "taints": [taint]}]}


def test_change_of_the_manifests_is_written(project: Project) -> None:
    """No taint helps in this recorded case, so the pods must be restricted to their pools."""
    given(project, "039")
    assert "wrote fix.yaml: use node affinity to restrict" in project.run(*WORDS).err
    component = yaml.safe_load((project.root / "fix.yaml").read_text())
    assert (component["apiVersion"], component["kind"]) == (
        "kustomize.config.k8s.io/v1alpha1",
        "Component",
    )
    for each in component["patches"]:
        assert {"version", "kind", "namespace", "name"} <= set(each["target"])
        (operation,) = yaml.safe_load(each["patch"])
        assert operation["op"] == "add"
        assert operation["path"].startswith("/spec")
        assert "pulumi-dra/pool" in str(operation["value"])


def test_guards_become_patches_of_the_manifests(project: Project) -> None:
    """Given Kubernetes before 1.36, expect pods with the same fields that the admission policies
    would add.
    """
    case = yaml.load((REHEARSALS / "039.yaml").read_text(), yaml.CSafeLoader)
    project.write("fleet.yaml", yaml.safe_dump({**case["fleet"], "placement": "exact"}))
    project.write("app.yaml", yaml.safe_dump_all(case["workloads"]))
    done = project.run(*WORDS)
    names = {each["metadata"]["name"] for each in case["workloads"] if "template" in each["spec"]}
    assert f"wrote fix.yaml: patches for {len(names)} workloads that add the guards" in done.err
    component = yaml.safe_load((project.root / "fix.yaml").read_text())
    assert {each["target"]["name"] for each in component["patches"]} == names
    for each in component["patches"]:
        operations = {one["path"].rpartition("/")[2]: one for one in yaml.safe_load(each["patch"])}
        assert set(operations["nodeSelector"]["value"]) >= {"pulumi-dra/pool"}


def given_instead_of_the_job(
    project: Project, kind: str, spec: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Write the case with guards, with its pods in a workload of another kind."""
    case = yaml.load((REHEARSALS / "039.yaml").read_text(), yaml.CSafeLoader)
    kept = [each for each in case["workloads"] if each["kind"] != "Job"]
    (job,) = (each for each in case["workloads"] if each["kind"] == "Job")
    api, _, name = kind.rpartition("/")
    other = {"apiVersion": api, "kind": name, "metadata": {"name": "w1"}}
    project.write("fleet.yaml", yaml.safe_dump({**case["fleet"], "placement": "exact"}))
    project.write(
        "app.yaml",
        yaml.safe_dump_all([*kept, {**other, "spec": spec(job["spec"]["template"]["spec"])}]),
    )


def test_guards_of_a_worker_group_patch_its_template(project: Project) -> None:
    given_instead_of_the_job(
        project,
        "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet",
        lambda pod: {
            "replicas": 8,
            "leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": pod}},
        },
    )
    assert "patches for 2 workloads" in project.run(*WORDS).err
    component = yaml.safe_load((project.root / "fix.yaml").read_text())
    (patch,) = (
        each for each in component["patches"] if each["target"]["kind"] == "LeaderWorkerSet"
    )
    (operation,) = yaml.safe_load(patch["patch"])
    assert operation["path"] == "/spec/leaderWorkerTemplate/workerTemplate/spec/nodeSelector"


def test_fix_for_a_pod_spec_without_a_template_works(project: Project) -> None:
    """Given a pod spec without a template around it, expect no patch, and no advice once the
    manifest has the guard.
    """

    def service(**more: dict[str, str]) -> str:
        given_instead_of_the_job(
            project,
            "serving.kserve.io/v1alpha1/LLMInferenceService",
            lambda pod: {"model": {"uri": "hf://a"}, "replicas": 8, "template": {**pod, **more}},
        )
        return project.run(*WORDS).err

    advice = "; add the guards of LLMInferenceService default/w1 to their manifests manually"
    assert f"patches for 1 workload that add the guards{advice}" in service()
    assert "to their manifests" not in service(nodeSelector={"pulumi-dra/pool": "pool-0"})


def test_unneeded_constraints_are_not_written(project: Project) -> None:
    given(project, "m2-any-takes-h100", without="train")
    done = project.run(*WORDS)
    assert (
        " isn't written, because the plan doesn't need constraints. In every pod arrival order, the "
        "scheduler places all pods on the nodes in the packing"
    ) in done.err
    assert not (project.root / "fix.yaml").exists()


def test_constraints_need_the_simulation(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    assert "the simulation didn't run" in project.run(*WORDS, "--simulate", "off").err


def test_constraints_need_a_fleet(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    done = project.run(
        "plan", "app.yaml", "--observed", "cluster.yaml", "--constraints", "fix.yaml"
    )
    assert done.status == 2
    assert "--constraints can't be combined with --observed" in done.err


def test_json_contains_every_fix_with_its_patch(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    fixes = project.run("plan", "app.yaml", "--fleet", "fleet.yaml", "--format", "json").json[
        "simulation"
    ]["fixes"]
    assert [(fix["kind"], fix["saves_per_hour"], fix["nodes"]) for fix in fixes] == [
        (kind, 6.0752, {"h100": 1, "l4": 1}) for kind in ("taint", "affinity", "profile")
    ]
    assert [sorted(fix["patch"]) for fix in fixes] == [
        ["pools"],
        ["apiVersion", "kind", "patches"],
        ["schedulerProfile"],
    ]


GUIDED = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.35",
    "placement": "guided",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [
        {"name": "l4", "machine": "g6.12xlarge", "count": {"max": 8}},
        {"name": "h100", "machine": "p5.48xlarge", "count": {"max": 4}},
    ],
}


class TestGuardsBeforeKubernetes136:
    """The owners of manifests add the guards, so that the saved plan of a stack stays current."""

    def stack(self, project: Project, **fleet: Any) -> None:
        for path in (EXAMPLES / "workloads").glob("*.yaml"):
            project.write(f"workloads/{path.name}", path.read_text())
        config = {
            "aws:region": "us-east-1",
            "pulumi-dra:workloads": ["workloads"],
            "pulumi-dra:fleet": {**GUIDED, **fleet},
        }
        project.write("stacks/Pulumi.dev.yaml", yaml.safe_dump({"config": config}))

    def add(self, project: Project) -> None:
        """Add the Component to the kustomization of the workloads, as described in its header."""
        files = sorted(each.name for each in (project.root / "workloads").glob("*.yaml"))
        text = yaml.safe_dump({"resources": files, "components": ["../guards"]})
        project.write("workloads/kustomization.yaml", text)

    def test_plan_prints_the_command_that_writes_the_guards(self, project: Project) -> None:
        self.stack(project)
        command = "pulumi-dra plan --stack dev --constraints guards/kustomization.yaml"
        assert f"guards for the manifests: {command}\n" in project.run("plan", "--stack", "dev").err

        done = project.run(*command.split()[1:])  # creates the folder

        assert (done.status, "guards for the manifests" in done.err) == (0, False)
        assert (project.root / "guards/kustomization.yaml").is_file()

    def test_plan_of_a_stack_includes_the_guards(self, project: Project) -> None:
        self.stack(project)
        before = project.run(
            "plan", "--stack", "dev", "--constraints", "guards/kustomization.yaml", "--quiet"
        )
        self.add(project)
        assert project.run("plan", "--stack", "dev", "--write").status == 0
        after = project.run("plan", "--stack", "dev", "--check", "--quiet")

        assert "with 1 guard" in before.out
        assert (after.status, after.out) == (0, before.out)

    @pytest.mark.long
    @pytest.mark.parametrize("command", ["plan", "check", "ci"])
    def test_guards_of_another_plan_leave_the_verdict_open(
        self, command: str, project: Project
    ) -> None:
        """Given guards for pools that have been renamed, when a command plans the stack, then the
        verdict is cannot tell until the guards are written again.
        """
        self.stack(project)
        write = ("plan", "--stack", "dev", "--constraints", "guards/kustomization.yaml")
        project.run(*write)
        self.add(project)
        assert project.run(command, "--stack", "dev").status == 0
        pools = [{**pool, "name": f"{pool['name']}-b"} for pool in GUIDED["pools"]]
        self.stack(project, pools=pools)
        done = project.run(command, "--stack", "dev")
        text = " ".join(done.out.split())
        assert (done.status, "differ from the guards in the plan" in text) == (3, True)
        assert "`, or give each stack a kustomization with its own guards" in text
        project.run(*write)
        assert project.run(command, "--stack", "dev").status == 0

    def test_other_components_are_not_part_of_the_plan(self, project: Project) -> None:
        self.stack(project)
        project.run("plan", "--stack", "dev", "--constraints", "guards/kustomization.yaml")
        file = project.root / "guards/kustomization.yaml"
        file.write_text(file.read_text().replace("pulumi-dra/guards", "other/guards"))
        self.add(project)
        assert project.run("plan", "--stack", "dev", "--quiet").status == 3

    def test_plan_without_guards_ignores_the_component(self, project: Project) -> None:
        self.stack(project)
        project.run("plan", "--stack", "dev", "--constraints", "guards/kustomization.yaml")
        self.add(project)
        self.stack(project, placement="free")
        assert project.run("plan", "--stack", "dev", "--quiet").status == 3
