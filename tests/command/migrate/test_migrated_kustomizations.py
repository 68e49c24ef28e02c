"""`pulumi-dra migrate` on kustomizations: bases and patches migrate together, and still build."""

from __future__ import annotations

import shutil

import pytest
from command_project import Project

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: tts}
spec:
  replicas: 1
  selector: {matchLabels: {app: tts}}
  template:
    metadata: {labels: {app: tts}}
    spec:
      containers:
        - name: tts
          image: example/tts:1
          resources: {limits: {nvidia.com/gpu: 1}}
"""
PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: tts}
spec:
  template:
    spec:
      containers:
        - name: tts
          resources: {limits: {nvidia.com/gpu: 2}}
"""
JSON_PATCH = """\
- op: replace
  path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu
  value: 2
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.35"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l40s, machine: g6e.12xlarge, count: {max: 4}}]
"""
OVERLAY = "resources: [../../base]\npatches:\n  - path: big.yaml\n"
needs_builder = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)


@pytest.fixture
def kustomized(project: Project) -> Project:
    project.write("fleet.yaml", FLEET)
    project.write("k/base/kustomization.yaml", "resources: [tts.yaml]\n")
    project.write("k/base/tts.yaml", BASE)
    project.write("k/overlays/dev/kustomization.yaml", "resources: [../../base]\n")
    project.write("k/overlays/prod/kustomization.yaml", OVERLAY)
    project.write("k/overlays/prod/big.yaml", PATCH)
    return project


def test_claim_of_a_patch_is_written_to_a_listed_file(kustomized: Project) -> None:
    prod = kustomized.root / "k/overlays/prod"

    done = kustomized.run("migrate", "k", "--fleet", "fleet.yaml", "--write")

    assert done.status == 0
    assert "ResourceClaimTemplate" not in (prod / "big.yaml").read_text()
    assert "name: tts-gpu-2" in (prod / "big-claim.yaml").read_text()
    assert "resources: [../../base, big-claim.yaml]" in (prod / "kustomization.yaml").read_text()
    assert kustomized.run("migrate", "k").out.startswith("Nothing to migrate")


def test_claim_of_a_patch_in_two_overlays_is_listed_in_both(
    kustomized: Project,
) -> None:
    component = "kind: Component\npatches: [{path: big.yaml}]\n"
    kustomized.write("k/overlays/prod/kustomization.yaml", "resources: [../../base]\n")
    for name in ("a", "b"):
        kustomized.write(f"k/parts/{name}/kustomization.yaml", component)
        kustomized.write(f"k/parts/{name}/big.yaml", PATCH)

    assert kustomized.run("migrate", "k", "--write").status == 0

    for name in ("a", "b"):
        text = (kustomized.root / f"k/parts/{name}/kustomization.yaml").read_text()
        assert "big-claim.yaml" in text


@needs_builder
@pytest.mark.parametrize("overlay", ["dev", "prod"])
def test_migrated_overlay_fits(kustomized: Project, overlay: str) -> None:
    kustomized.run("migrate", "k", "--fleet", "fleet.yaml", "--write")

    assert kustomized.run("plan", f"k/overlays/{overlay}", "--fleet", "fleet.yaml").status == 0


@pytest.mark.parametrize(
    "path",
    ["k/overlays", "k/overlays/dev", "k/overlays/prod", "k/overlays/prod/kustomization.yaml"],
)
def test_overlay_without_its_base_gets_the_folder_to_pass(kustomized: Project, path: str) -> None:
    done = kustomized.run("migrate", path, "--fleet", "fleet.yaml")

    assert done.status == 2
    assert "pass the folder that contains them: `pulumi-dra migrate k`\n" in done.err


def test_claim_of_explicit_files_is_written_to_a_listed_file(kustomized: Project) -> None:
    done = kustomized.run("migrate", "k/base/tts.yaml", "k/overlays/prod/big.yaml", "--write")

    assert done.status == 0
    assert (kustomized.root / "k/overlays/prod/big-claim.yaml").exists()


@pytest.mark.parametrize("form", ["file", "inline"])
def test_json_patch_with_devices_is_unchanged(kustomized: Project, form: str) -> None:
    inline = "".join(f"      {line}\n" for line in JSON_PATCH.splitlines())
    entry = "path: big.json.yaml" if form == "file" else f"patch: |-\n{inline}"
    kustomized.write("k/overlays/prod/big.json.yaml", JSON_PATCH)
    kustomized.write(
        "k/overlays/prod/kustomization.yaml",
        f"resources: [../../base]\npatches:\n  - target: {{kind: Deployment}}\n    {entry}\n",
    )

    done = kustomized.run("migrate", "k", "--write")

    assert done.status == 2
    assert (
        "write the patch as a strategic merge patch in a separate file, and run `migrate` again"
        in done.err
    )
    assert (kustomized.root / "k/base/tts.yaml").read_text() == BASE


def test_resources_with_an_anchor_get_the_line_to_add(kustomized: Project) -> None:
    kustomized.write("k/overlays/prod/kustomization.yaml", OVERLAY.replace(": [", ": &all [", 1))

    done = kustomized.run("migrate", "k", "--write")

    assert "change manually" in done.out
    assert "add big-claim.yaml to resources, because" in " ".join(done.out.split())


def test_configurations_with_an_anchor_get_the_line_to_add(kustomized: Project) -> None:
    prefixed = "namePrefix: dev-\nresources: [../../base]\nconfigurations: &all [names.yaml]\n"
    kustomized.write("k/overlays/dev/names.yaml", "nameReference: []\n")
    kustomized.write("k/overlays/dev/kustomization.yaml", prefixed)

    done = kustomized.run("migrate", "k", "--write")

    assert "add claim-references.yaml to configurations, because" in " ".join(done.out.split())


@needs_builder
def test_references_to_claims_are_renamed_with_the_claims(kustomized: Project) -> None:
    """Kustomize adds the prefix to the claim template, and needs a configuration for its
    references.
    """
    prefixed = "namePrefix: dev-\nresources: [../../base]\n"
    kustomized.write("k/overlays/dev/kustomization.yaml", prefixed)
    before = kustomized.run("migrate", "k", "--fleet", "fleet.yaml", "--write")
    assert before.status == 0, before.err
    assert "so that Kustomize also renames references" in before.out

    plan = kustomized.run("plan", "k/overlays/dev", "--fleet", "fleet.yaml", "--format", "json")

    (workload,) = plan.json["workloads"]
    assert (plan.json["verdict"], workload["name"]) == ("fits", "dev-tts")
    again = kustomized.run("migrate", "k", "--fleet", "fleet.yaml", "--format", "diff")
    assert again.out == ""
