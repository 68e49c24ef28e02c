"""`catalog` of pulumi-dra.yaml: learned machine types for all fleets of a project."""

from __future__ import annotations

import pytest
import yaml
from captured_npu import CLASS, FLEET, NODE, SLICE, WORK, capture
from command_project import Project

from dra_planner.planfile import read_plan_file
from pulumi_dra.platform.stack_settings import settings_of


@pytest.fixture
def shared(project: Project) -> Project:
    """A project whose configuration refers to the output of `catalog add`."""
    capture(project, NODE, SLICE, CLASS)
    project.write("tables/npu.yaml", project.run("catalog", "add", "--from", "cluster.json").out)
    project.write("pulumi-dra.yaml", "catalog: [tables/npu.yaml]\n")
    project.write("fleet.yaml", FLEET)
    project.write("work.yaml", WORK)
    return project


def table(project: Project, memory: str = "95Gi") -> str:
    return (project.root / "tables/npu.yaml").read_text(encoding="utf-8").replace("95Gi", memory)


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "work.yaml"),
        ("check", "work.yaml"),
        ("explain", "work.yaml", "--claim", "default/train-npus"),
        ("slices",),
        ("export", "--to", "karpenter"),
        ("migrate", "work.yaml"),
        ("rules", "objects", "work.yaml"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_uses_the_shared_machine_types(
    shared: Project, words: tuple[str, ...]
) -> None:
    assert shared.run(*words, "--fleet", "fleet.yaml").status == 0
    shared.write("pulumi-dra.yaml", "catalog: []\n")
    assert shared.run(*words, "--fleet", "fleet.yaml").status == 2


PORTFOLIO = """\
stacks: [{fleet: fleet.yaml, workloads: [work.yaml]}]
scenarios:
  - {name: larger, pools: {npu: {count: {max: 9}}}}
  - {name: another, addPools: [{name: new, machine: npu9-8x, count: {max: 3}}]}
"""


def test_portfolio_uses_the_shared_machine_types_in_every_scenario(shared: Project) -> None:
    shared.write("portfolio.yaml", PORTFOLIO)

    def run(folder: str) -> int:
        return shared.run(
            "portfolio", "portfolio.yaml", "--engine", "here", "--results", folder
        ).status

    assert run("answers") == 0
    shared.write("tables/npu.yaml", table(shared).replace("npu-7", "npu-7x"))
    assert (
        "0 cached"
        in shared.run("portfolio", "portfolio.yaml", "--engine", "here", "--results", "answers").out
    )
    shared.write("pulumi-dra.yaml", "catalog: []\n")
    assert run("answers") != 0


def test_diff_uses_the_shared_machine_types(shared: Project) -> None:
    shared.write("larger.yaml", FLEET.replace("max: 4", "max: 6"))

    done = shared.run("diff", "fleet.yaml", "larger.yaml", "--workloads", "work.yaml")

    assert (done.status, "pools.npu.count.max" in done.out) == (0, True)


EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-east-1, version: "1.36"}
managedNodeGroups:
  - {name: npu, instanceType: npu9-8x, minSize: 0, maxSize: 4}
"""


@pytest.mark.parametrize("words", [(), ("--stack", "new")], ids=["fleet", "stack"])
def test_new_project_gets_the_catalog_rows_of_its_pools(
    shared: Project, words: tuple[str, ...]
) -> None:
    shared.write("eksctl.yaml", EKSCTL)
    source = "fleet.yaml" if words else "eksctl.yaml"

    assert shared.run("init", "made", "--from", source, *words).status == 0

    shared.write("pulumi-dra.yaml", "catalog: []\n")
    fleet = "made/stacks/new.fleet.yaml" if words else "made/fleet.yaml"
    assert shared.run("plan", "work.yaml", "--fleet", fleet).status == 0


def test_imported_pool_of_a_learned_machine_type_is_read(shared: Project) -> None:
    shared.write("eksctl.yaml", EKSCTL)
    assert shared.run("plan", "work.yaml", "--fleet", "eksctl.yaml").status == 0


def test_fleets_own_rows_and_later_files_take_precedence(shared: Project) -> None:
    work = WORK.replace("count: 5", "count: 5, selectors: [{cel: {expression: LARGE}}]")
    large = "device.capacity['npu.example.org'].memory.compareTo(quantity('90Gi')) >= 0"
    shared.write("work.yaml", work.replace("LARGE", f'"{large}"'))

    def verdict() -> str:
        plan = shared.run("plan", "work.yaml", "--fleet", "fleet.yaml", "--format", "json")
        return str(plan.json["verdict"])

    assert verdict() == "fits"
    shared.write("tables/smaller.yaml", table(shared, "32Gi"))
    shared.write("pulumi-dra.yaml", "catalog: [tables/npu.yaml, tables/smaller.yaml]\n")
    assert verdict() == "does-not-fit"
    shared.write("fleet.yaml", FLEET + table(shared))
    assert verdict() == "fits"


def test_plan_file_of_a_stack_contains_the_catalog_rows(shared: Project) -> None:
    config = {
        "aws:region": "us-east-1",
        "pulumi-dra:workloads": ["work.yaml"],
        "pulumi-dra:fleet": yaml.safe_load(FLEET),
    }
    shared.write("stacks/Pulumi.npu.yaml", yaml.safe_dump({"config": config}))
    assert shared.run("plan", "--stack", "npu", "--write").status == 0
    assert shared.run("plan", "--stack", "npu", "--check").status == 0
    settings = settings_of("npu", config, shared.root)
    assert [row.machine for row in settings.fleet.catalog] == ["npu9-8x"]
    plan = read_plan_file(shared.root / "stacks/npu.plan.json", stack="npu")
    assert plan.pools[0].nodes.desired == 2

    shared.write("tables/npu.yaml", table(shared, "64Gi"))
    assert shared.run("plan", "--stack", "npu", "--check").status == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "pulumi-dra.yaml:1 catalog[0]: tables/npu.yaml doesn't exist"),
        ("- a\n", "tables/npu.yaml:1: a catalog must be a mapping with the key catalog"),
        ("catalog:\n- {machine: a, arch: sparc}\n", "catalog[0].arch must be amd64 or"),
        ("catalogue: []\n", "tables/npu.yaml:1 catalogue isn't"),
        ("catalog: [\n", "tables/npu.yaml:2 can't be read as YAML"),
    ],
    ids=["no file", "a list", "a wrong value", "another key", "broken"],
)
def test_wrong_file_is_reported_with_its_place(
    shared: Project, text: str | None, message: str
) -> None:
    if text is None:
        (shared.root / "tables/npu.yaml").unlink()
    else:
        shared.write("tables/npu.yaml", text)
    done = shared.run("plan", "work.yaml", "--fleet", "fleet.yaml")
    assert done.status == 2
    assert message in done.err
