"""Advice about fleets of other tools is followed, and isn't repeated."""

from __future__ import annotations

import json
import re
import shlex

import pytest
import yaml
from command_project import EXAMPLES, Project

from cluster_descriptions import TWO_POOLS

TWO_CLUSTERS = f"{TWO_POOLS}---\n{TWO_POOLS.replace('name: ml,', 'name: web,').replace('maxSize: 4', 'maxSize: 2')}"
NODE_POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  limits: {nodes: "4"}
  template:
    spec:
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
"""


def init(project: Project, text: str, *words: str, name: str = "cluster.yaml") -> str:
    """Return what `init --from` prints for a file."""
    project.write(name, text)
    done = project.run("init", "gpus", "--from", name, "--ci", "none", "--force", *words)
    return done.out + done.err


def follow(project: Project, advice: str, **values: str) -> str:
    """Run the command in a fix, with its placeholders filled in."""
    (command,) = re.findall(r"pulumi-dra init [^;`\n]*", advice)
    words = [values.get(word, word) for word in shlex.split(command)[1:]]
    done = project.run(*words)
    assert done.status == 0, done.err
    return done.out


def test_fix_for_a_missing_region_works(project: Project) -> None:
    text = init(project, TWO_POOLS.replace("region: us-east-1, ", ""))
    assert "the region isn't set in these files" in text
    assert "run `pulumi-dra init gpus --ci none --force --from cluster.yaml --region NAME`" in text
    follow(project, text, NAME="us-west-2")
    assert yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())["region"] == "us-west-2"


def test_command_in_a_fix_repeats_the_other_options(project: Project) -> None:
    text = init(
        project,
        TWO_POOLS.replace("region: us-east-1, ", ""),
        *("--stack", "prod", "--workloads", "my jobs", "--kubernetes", "1.35"),
    )

    options = "gpus --stack prod --kubernetes 1.35 --workloads 'my jobs' --ci none --force"
    assert f"pulumi-dra init {options} --from cluster.yaml --region NAME" in text


def test_fleet_of_another_tool_has_guided_placement(project: Project) -> None:
    init(project, TWO_POOLS)
    fleet = yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())
    assert fleet["placement"] == "guided"


def test_fix_for_several_clusters_works(project: Project) -> None:
    text = init(project, TWO_CLUSTERS)
    assert "these files describe 2 clusters: ml, web" in text
    options = "gpus --ci none --force --from cluster.yaml --cluster NAME"
    assert f"choose one cluster: `pulumi-dra init {options}`" in text
    follow(project, text, NAME="web")
    counts = [
        pool["count"]["max"]
        for pool in yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())["pools"]
    ]
    assert counts == [2, 2]
    unknown = init(project, TWO_CLUSTERS, "--cluster", "wep")
    assert 'these files don\'t describe a cluster "wep"' in unknown
    assert "use the name of a cluster in these files: ml, web" in unknown
    assert "use the name of a cluster in these files" not in init(
        project, TWO_CLUSTERS, "--cluster", "ml"
    )


def test_fix_for_a_file_without_gpu_pools_works(project: Project) -> None:
    plain = "".join(
        line
        for line in TWO_POOLS.splitlines(keepends=True)
        if "g6" not in line and "p5" not in line
    )
    assert "pass a file with GPU pools" in init(project, plain)
    assert "pass a file with GPU pools" not in init(project, TWO_POOLS)


def test_note_on_machine_types_of_a_node_pool_works(project: Project) -> None:
    text = init(project, NODE_POOL)
    advice = (
        "Select the planned machine types with `pulumi-dra init --machines`, or in a requirement on "
        "node.kubernetes.io/instance-type"
    )
    assert re.search(r"NodePool gpus allows \d+ machine types. " + advice, text)
    named = "- {key: node.kubernetes.io/instance-type, operator: In, values: [g6.2xlarge]}"
    text = init(
        project,
        NODE_POOL.replace("      requirements:\n", f"      requirements:\n        {named}\n"),
    )
    assert advice not in text
    pools = yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())["pools"]
    assert [pool["machine"] for pool in pools] == ["g6.2xlarge"]
    assert advice not in init(project, NODE_POOL, "--machines", "g6.2xlarge")


def test_note_on_a_node_pool_of_any_machine_type_works(
    project: Project,
) -> None:
    anything = NODE_POOL.replace(
        "karpenter.k8s.aws/instance-category, operator: In, values: [g, p]",
        "kubernetes.io/os, operator: In, values: [linux]",
    )
    advice = "Select the planned machine types in a requirement on node.kubernetes.io/instance-type"
    assert advice in init(project, anything)
    named = "- {key: node.kubernetes.io/instance-type, operator: In, values: [g6.2xlarge]}"
    assert advice not in init(
        project,
        anything.replace("      requirements:\n", f"      requirements:\n        {named}\n"),
    )


def test_fix_for_a_folder_without_yaml_works(project: Project) -> None:
    (project.root / "empty").mkdir()
    done = project.run("init", "gpus", "--from", "empty")
    assert (done.status, "pass a file, or a folder with these files" in done.err) == (2, True)
    project.write("empty/cluster.yaml", TWO_POOLS)
    assert project.run("init", "gpus", "--from", "empty").status == 0


TERRAFORM = json.dumps(
    {
        "format_version": "1.2",
        "values": {
            "root_module": {
                "resources": [
                    {
                        "address": f"{kind}.a",
                        "mode": "managed",
                        "type": kind,
                        "values": values,
                    }
                    for kind, values in (
                        ("aws_eks_cluster", {"name": "ml", "version": "1.35"}),
                        (
                            "aws_eks_node_group",
                            {
                                "node_group_name": "l4",
                                "instance_types": ["g6.2xlarge"],
                                "scaling_config": [{"max_size": 2}],
                            },
                        ),
                    )
                ]
            }
        },
    }
)
ONE_TYPE = NODE_POOL.replace(
    "{key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}",
    "{key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge]}",
)
FOLDERS = {
    "Terraform's JSON and NodePools": (
        {"state.json": TERRAFORM, "pools.yaml": ONE_TYPE},
        ["l4", "gpus"],
    ),
    "only Terraform's JSON": ({"state.json": TERRAFORM}, ["l4"]),
    "NodePools and JSON of an unrelated tool": (
        {"package.json": "{}", "pools.yaml": ONE_TYPE},
        ["gpus"],
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_of_a_folder_adds_its_pools(project: Project, name: str) -> None:
    files, expected = FOLDERS[name]
    for file, text in files.items():
        project.write(f"cluster/{file}", text)

    done = project.run(
        "init", "out", "--from", "cluster", "--region", "us-east-1", "--stack", "prod"
    )

    assert done.status == 0, done.err
    written = yaml.safe_load((project.root / "out/stacks/prod.fleet.yaml").read_text())
    assert [pool["name"] for pool in written["pools"]] == expected


def test_note_on_auto_mode_works(project: Project) -> None:
    advice = "EKS Auto Mode is on, but its nodes don't support claims. Plan node groups or Karpenter instead"
    assert advice in init(project, f"{TWO_POOLS}autoModeConfig: {{enabled: true}}\n")
    assert advice not in init(project, TWO_POOLS)


def test_note_on_pools_of_scaling_groups_works(project: Project) -> None:
    group = {
        "node_group_name": "l4",
        "instance_types": ["g6.2xlarge"],
        "scaling_config": [{"max_size": 2}],
    }
    rows = [("aws_eks_cluster", {"name": "ml", "version": "1.35"}), ("aws_eks_node_group", group)]
    rows += [("aws_autoscaling_group", {"name": "h100"})]
    resources = [
        {"address": f"{kind}.a", "mode": "managed", "type": kind, "values": values}
        for kind, values in rows
    ]
    plan = json.dumps(
        {"format_version": "1.2", "planned_values": {"root_module": {"resources": resources}}}
    )
    text = init(project, plan, "--region", "us-east-1", name="plan.json")
    assert "is skipped, because it's an Auto Scaling group. Add its pool by hand" in text
    fleet = yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())
    fleet["pools"].append({"name": "h100", "machine": "p5.48xlarge", "count": {"max": 2}})
    project.write("gpus/fleet.yaml", yaml.safe_dump(fleet))
    done = project.run(
        "plan", str(EXAMPLES / "workloads"), "--fleet", "gpus/fleet.yaml", "--format", "json"
    )
    assert [pool["name"] for pool in done.json["pools"]] == ["l4", "h100"]


def test_note_on_partitioned_pools_works(project: Project) -> None:
    config = {
        "machine_type": "a2-highgpu-1g",
        "guest_accelerator": [
            {"type": "nvidia-tesla-a100", "count": 1, "gpu_partition_size": "1g.5gb"}
        ],
    }
    cluster = {"name": "ml", "location": "us-central1", "min_master_version": "1.35"}
    pool = {"name": "a100", "cluster": "ml", "node_count": 1, "node_config": [config]}
    rows = [("google_container_cluster", cluster), ("google_container_node_pool", pool)]
    resources = [
        {"address": f"{kind}.a", "mode": "managed", "type": kind, "values": values}
        for kind, values in rows
    ]
    plan = json.dumps(
        {"format_version": "1.2", "planned_values": {"root_module": {"resources": resources}}}
    )
    text = init(project, plan, name="plan.json")
    assert "its GPUs are partitioned (1g.5gb); set `mig` to their MIG configuration" in text
    fleet = yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())
    fleet["pools"][0]["mig"] = "all-1g.5gb"
    project.write("gpus/fleet.yaml", yaml.safe_dump(fleet))
    slices = project.run("slices", "--fleet", "gpus/fleet.yaml", "--pool", "a100")
    assert slices.out.count("1g.5gb") >= 7 or "mig" in slices.err, slices.err


@pytest.mark.parametrize("kind", ["Application", "HelmRelease", "ProvisioningRequest", "GpuThing"])
def test_fix_for_unsupported_delivery_objects_works(kind: str, project: Project) -> None:
    unread = {
        "Application": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"
        "spec: {source: {chart: a, repoURL: https://charts.example}}\n",
        "HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: "
        "a}\n"
        "spec: {chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: r}}}}\n",
        "ProvisioningRequest": "apiVersion: autoscaling.x-k8s.io/v1\nkind: "
        "ProvisioningRequest\nmetadata: {name: a}\n",
        "GpuThing": "apiVersion: example.com/v1\nkind: GpuThing\nmetadata: {name: a}\nspec: {gpus: "
        "1}\n",
    }
    fixes = {
        "Application": "build the kustomization first: `kustomize build … | pulumi-dra plan -`",
        "HelmRelease": "render the chart first: `helm template … | pulumi-dra plan -`",
        "ProvisioningRequest": "add manifests for the pods that need the capacity",
        "GpuThing": "add manifests for the pods that this object creates",
    }
    project.write("given.yaml", unread[kind])
    done = project.run("plan", "given.yaml", "--stack", "dev")
    assert done.status == 3
    assert fixes[kind] in done.out
    rendered = (EXAMPLES / "workloads" / "two-pods.yaml").read_text()
    followed = project.run("plan", "-", "--stack", "dev", stdin=rendered)
    assert followed.status == 0
    assert fixes[kind] not in followed.out
