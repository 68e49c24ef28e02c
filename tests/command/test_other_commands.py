"""The subcommands slices, catalog, and verify."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from command_project import Project

from dra_planner import catalog
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source


def test_slices_are_valid_yaml_for_kubectl(project: Project) -> None:
    done = project.run(
        "slices", "--machine", "p5.48xlarge", "--driver", "25.8.1", "--kubernetes", "1.34"
    )
    (document,) = yaml.safe_load_all(done.out)
    assert (document["apiVersion"], document["kind"]) == ("resource.k8s.io/v1", "ResourceSlice")
    assert len(document["spec"]["devices"]) == 8
    listed = project.run(
        "slices", "--machine", "g2-standard-8", "--driver", "25.8.1", "--format", "json"
    ).json
    assert listed["items"][0]["spec"]["devices"][0]["name"] == "gpu-0"


def drivers_of(text: str) -> list[str]:
    return [document["spec"]["driver"] for document in yaml.safe_load_all(text)]


def test_slices_use_settings_of_the_driver(project: Project) -> None:
    p5 = ("slices", "--machine", "p5.48xlarge", "--driver", "25.8.1")
    whole = project.run(*p5, "--compute-domains", "--network").out
    assert drivers_of(whole) == ["gpu.nvidia.com", "compute-domain.nvidia.com", "dra.net"]
    a100 = project.run(
        "slices", "--machine", "p4d.24xlarge", "--driver", "25.8.1", "--mig", "all-1g.5gb"
    ).out
    assert sum(len(each["spec"]["devices"]) for each in yaml.safe_load_all(a100)) == 8 * 7
    l4 = ("slices", "--machine", "g6.2xlarge", "--driver", "0.5.0", "--kubernetes", "1.36")
    (shared,) = yaml.safe_load_all(
        project.run(*l4, "--gate", "ConsumableShares", "--consumable-shares", "memory").out
    )
    assert shared["spec"]["devices"][0]["allowMultipleAllocations"] is True
    h100 = ("slices", "--machine", "p5.48xlarge", "--driver", "0.4.1", "--kubernetes", "1.36")
    assert "sharedCounters" in project.run(*h100, "--gate", "DynamicMIG=true").out
    assert "sharedCounters" not in project.run(*h100, "--gate", "DynamicMIG=false").out


@pytest.mark.parametrize("name", ["n", "yes", "1e3", "007", "0x1f", "null", "12.5"])
def test_slices_support_node_names_that_look_like_other_types(project: Project, name: str) -> None:
    done = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", name
    )
    manifests = read_checked([Source("slices.yaml", done.out)], features_of(34))
    assert manifests.diagnostics == ()
    assert [(each.node_name, each.pool) for each in manifests.slices] == [(name, name)]


def test_invalid_node_name_is_rejected(project: Project) -> None:
    done = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", "Node_1"
    )
    assert done.status == 2
    assert '"Node_1" isn\'t a valid node name' in done.err


def test_slices_of_other_accelerators_need_no_driver_version(project: Project) -> None:
    assert drivers_of(project.run("slices", "--machine", "trn2.48xlarge").out) == ["neuron.aws.com"]
    done = project.run("slices", "--machine", "g6.2xlarge")
    assert done.status == 2
    assert "--driver VERSION with one of" in done.err
    done = project.run("slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--network")
    assert done.status == 2
    assert "the cloud's documentation doesn't list any claimable network interfaces for" in done.err


def test_slices_of_a_fleets_pools_are_printed(project: Project) -> None:
    fleet = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.5.0, featureGates: {DynamicMIG: true}}, dranet: true}
pools:
- {name: l4, machine: g6.2xlarge, count: 1}
- {name: h100, machine: p5.48xlarge, count: 1}
"""
    project.write("fleet.yaml", fleet)
    whole = project.run("slices", "--fleet", "fleet.yaml")
    assert drivers_of(whole.out) == ["gpu.nvidia.com"] * 10 + ["dra.net"]
    pool = project.run("slices", "--fleet", "fleet.yaml", "--pool", "h100").out
    assert {each["spec"]["nodeName"] for each in yaml.safe_load_all(pool)} == {"h100-0"}
    assert (
        "did you mean h100?" in project.run("slices", "--fleet", "fleet.yaml", "--pool", "h10").err
    )
    assert "remove --mig" in project.run("slices", "--stack", "dev", "--mig", "all-1g.10gb").err
    assert "use --machine TYPE" in project.run("slices").err
    assert (
        "add --fleet FILE" in project.run("slices", "--machine", "g6.2xlarge", "--pool", "l4").err
    )


def test_unknown_machine_types_and_gates_are_rejected(project: Project) -> None:
    done = project.run("slices", "--machine", "p5.48xlrage", "--driver", "25.8.1")
    assert done.status == 2
    assert "p5.48xlarge" in done.err
    done = project.run(
        "slices", "--machine", "p5.48xlarge", "--driver", "25.8.1", "--gate", "DynamicMIG=maybe"
    )
    assert "isn't true or false" in done.err
    done = project.run("slices", "--machine", "p5.48xlarge", "--cloud", "gke", "--driver", "25.8.1")
    assert "only EKS offers p5.48xlarge" in done.err


def test_catalog_filters_by_words(project: Project) -> None:
    done = project.run("catalog", "machines", "h100", "eks", "--format", "json")
    machines = {row["machine"] for row in done.json["machines"]}
    assert "p5.48xlarge" in machines
    assert all(row["accelerator"].startswith("H100") for row in done.json["machines"])
    (p5,) = [row for row in done.json["machines"] if row["machine"] == "p5.48xlarge"]
    assert (p5["count"], p5["pcie_roots"], p5["interfaces"]) == (8, 8, 32)
    assert project.run("catalog", "gpus", "no-such-gpu").status == 1


def test_every_table_of_the_catalog_is_printed(project: Project) -> None:
    for table in ("machines", "gpus", "mig", "drivers", "releases"):
        done = project.run("catalog", table)
        assert (done.status, done.err) == (0, "")
        assert len(done.out.splitlines()) > 3


def test_verify_finds_differences_from_the_prediction(project: Project) -> None:
    predicted = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", "n1"
    ).out
    project.write("cluster.yaml", NODE + "---\n" + predicted)
    answer = project.run(
        "verify", "--observed", "cluster.yaml", "--stack", "dev", "--format", "json"
    ).json
    assert answer["compared"] == {"l4": ["n1"]}
    assert not [
        each for each in answer["differences"] if each["aspect"] in ("count", "capacity", "driver")
    ]
    project.write("cluster.yaml", NODE + "---\n" + predicted.replace("NVIDIA L4", "NVIDIA L40S"))
    done = project.run("verify", "--observed", "cluster.yaml", "--stack", "dev")
    assert done.status == 1
    assert "NVIDIA L40S" in done.out


def test_verify_prints_a_missing_catalog_row_as_one_line(project: Project) -> None:
    predicted = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", "n1"
    ).out
    changed = predicted.replace("NVIDIA L4", "NVIDIA L4 Ultra Long Name Edition").replace(
        "23034Mi", "46068Mi"
    )
    project.write("cluster.yaml", NODE + "---\n" + changed)
    done = project.run("verify", "--observed", "cluster.yaml", "--stack", "dev", COLUMNS="60")
    assert "Append rows to planner/dra_planner/data/gpus.csv" in " ".join(done.out.split())
    (line,) = [
        line for line in done.out.splitlines() if line.startswith("l4-ultra-long-name-edition,")
    ]
    answer = project.run(
        "verify", "--observed", "cluster.yaml", "--stack", "dev", "--format", "json"
    ).json
    assert line == answer["rows_to_add"][0]["line"]
    table = Path(catalog.__file__).parents[1] / "data" / "gpus.csv"
    heads = table.read_text(encoding="utf-8").splitlines()[0]
    assert len(next(csv.reader([line]))) == len(next(csv.reader([heads])))


def test_verify_combines_equal_differences_of_several_nodes(project: Project) -> None:
    nodes = [NODE.replace("n1", f"n{number}") for number in range(1, 6)]
    project.write("cluster.yaml", "---\n".join(nodes))
    done = project.run("verify", "--observed", "cluster.yaml", "--stack", "dev", COLUMNS="160")
    (row,) = [line for line in done.out.splitlines() if line.startswith("driver ")]
    assert row.endswith("n1, n2, n3 and 2 more")
    answer = project.run(
        "verify", "--observed", "cluster.yaml", "--stack", "dev", "--format", "json"
    ).json
    assert len([each for each in answer["differences"] if each["aspect"] == "driver"]) == 5


def test_verify_lists_differences_as_paragraphs_on_narrow_terminals(project: Project) -> None:
    """Narrow columns broke labels and values after every few letters."""
    project.write("cluster.yaml", NODE)
    words = ("verify", "--observed", "cluster.yaml", "--stack", "dev")
    lines = project.run(*words, COLUMNS="60").out.splitlines()
    at = lines.index("label beta.kubernetes.io/instance-type")
    assert lines[at + 1] == "  predicted: g6.2xlarge · observed: none · where: n1"
    assert max(map(len, lines)) <= 60


def test_verify_reports_that_there_is_nothing_to_compare(project: Project) -> None:
    project.write(
        "cluster.yaml", NODE.replace("pulumi-dra/pool: l4, ", "").replace("g6.2xlarge", "m7i.large")
    )
    done = project.run("verify", "--observed", "cluster.yaml", "--stack", "dev")
    assert done.status == 3
    assert "No node in the snapshot" in done.out


NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {pulumi-dra/pool: l4, kubernetes.io/hostname: n1, node.kubernetes.io/instance-type: g6.2xlarge}
status:
  allocatable: {cpu: 7910m, memory: 30Gi, pods: "58", ephemeral-storage: 180Gi}
"""
