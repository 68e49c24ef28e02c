"""The driver on an existing cluster: upgrades, failures, and changes of settings."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

from dra_sandbox.clouds.kubernetes.releases import FAILING
from dra_sandbox.engine import Engine

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("existing")]

TOKEN = "a-token-that-nobody-may-see"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://cluster.example"}}],
    "users": [{"name": "u", "user": {"token": TOKEN}}],
}
PROGRAM = f"""
import json
import pulumi
import pulumi_kubernetes as k8s
from pulumi_dra import DeviceClasses, DraDriver

given = json.load(open("driver.json"))
kubeconfig = pulumi.Output.secret({json.dumps(KUBECONFIG)!r})
cluster = k8s.Provider("cluster", kubeconfig=kubeconfig)
there = pulumi.ResourceOptions(providers={{"kubernetes": cluster}}, protect=given.pop("protect", None))
driver = DraDriver("driver", {{"platform": "eks", "max_nodes": 4, **given}}, opts=there)
classes = [{{"name": "large-gpu", "device": "gpu", "memory_gib_at_least": 40}}]
DeviceClasses(
    "classes",
    {{"kubernetes_version": "1.34", "classes": classes}},
    opts=pulumi.ResourceOptions.merge(there, pulumi.ResourceOptions(depends_on=[driver])),
)
pulumi.export("status", driver.status)
"""


CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: computedomains.resource.nvidia.com}
spec:
  group: resource.nvidia.com
  scope: Namespaced
  names: {kind: ComputeDomain, plural: computedomains}
  versions: [{name: v1beta1, served: true, storage: true}]
"""
RELEASE = "nvidia-dra-driver"


class Existing:
    """A stack whose program installs the driver with the settings in `driver.json`."""

    def __init__(self, folder: Path) -> None:
        project = folder / "project"
        project.mkdir()
        (project / "__main__.py").write_text(PROGRAM)
        (project / "Pulumi.yaml").write_text(
            yaml.safe_dump({"name": "existing", "runtime": "python"})
        )
        self._driver = project / "driver.json"
        self._driver.touch()
        self.engine = Engine(folder / "work", project)
        self.engine.stack_init("dev")

    def preview(self, **driver: Any) -> Any:
        self._driver.write_text(json.dumps(driver))
        return self.engine.preview("dev")

    def up(self, *options: str, **driver: Any) -> Any:
        self._driver.write_text(json.dumps(driver))
        return self.engine.up("dev", skip_preview=True, options=options)

    def state(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(
            r for r in self.engine.resources("dev") if r["urn"].endswith(f"::{name}")
        )
        return found


class Run(Struct, frozen=True):
    """The output of each step, and the state after it."""

    exported: str
    namespace_before: str
    upgrade_preview: Any
    upgrade: Any
    upgraded: dict[str, Any]
    namespace_after: str
    renamed_preview: Any
    domains_on: Any
    failed: Any
    failed_state: dict[str, Any]
    retried: Any
    refreshed: Any
    hidden: Any
    repaired: Any
    refused: Any
    destroyed: Any
    left: list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    stack = Existing(tmp_path_factory.mktemp("existing"))
    engine = stack.engine
    first = stack.up(version="25.12.0")
    assert first.ok, first.output
    exported = json.dumps(engine.export("dev"))
    namespace_before = stack.state("driver-namespace")["outputs"]["metadata"]["uid"]
    new = {"version": "0.4.1"}
    upgrade_preview, upgrade = stack.preview(**new), stack.up(**new)
    upgraded, namespace = (
        stack.state("driver-release"),
        stack.state("driver-namespace")["outputs"]["metadata"]["uid"],
    )
    renamed_preview = stack.preview(**new, keep_old_names=False)
    domains = {**new, "compute_domains": True, "crd_manifests": CRD}
    domains_on = stack.up(**domains)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(FAILING, RELEASE)
        failed = stack.up(**new)
    failed_state = stack.state("driver-release")
    retried = stack.up(**new)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(FAILING, RELEASE)
        stack.up(**new, priority_class="gpu")
    refreshed, hidden = engine.refresh("dev"), stack.up(**new, priority_class="gpu")
    urn = stack.state("driver-release")["urn"]
    repaired = stack.up("--replace", urn, **new, priority_class="gpu", protect=True)
    refused = engine.destroy("dev")
    stack.up(**new, priority_class="gpu")
    destroyed = engine.destroy("dev")
    return Run(
        exported,
        namespace_before,
        upgrade_preview,
        upgrade,
        upgraded,
        namespace,
        renamed_preview,
        domains_on,
        failed,
        failed_state,
        retried,
        refreshed,
        hidden,
        repaired,
        refused,
        destroyed,
        engine.resources("dev"),
    )


def changed(result: Any) -> list[tuple[str, str]]:
    return [(step.op, step.name) for step in result.steps if step.op not in ("same", "read")]


def test_kubeconfig_is_encrypted_in_state_and_preview(run: Run) -> None:
    assert TOKEN not in run.exported
    assert TOKEN not in run.upgrade_preview.output + json.dumps(run.upgrade_preview.events)


def test_chart_rename_updates_the_release_without_replacement(
    run: Run,
) -> None:
    assert run.upgrade_preview.ok, run.upgrade_preview.output
    assert changed(run.upgrade_preview) == changed(run.upgrade) == [("update", "driver-release")]
    (step,) = (step for step in run.upgrade_preview.steps if step.op == "update")
    assert {"chart", "version", "repositoryOpts"} <= set(step.diffs)
    assert "values.nameOverride" not in step.detailed
    assert run.upgraded["outputs"]["status"]["revision"] == 2
    assert run.upgraded["inputs"]["chart"].startswith("oci://registry.k8s.io/")
    assert run.upgraded["inputs"]["values"]["nameOverride"] == "nvidia-dra-driver-gpu"
    assert run.namespace_after == run.namespace_before


def test_preview_shows_that_new_names_replace_the_release(
    run: Run,
) -> None:
    assert changed(run.renamed_preview) == [
        ("delete-replaced", "driver-release"),
        ("replace", "driver-release"),
        ("create-replacement", "driver-release"),
    ]
    step = next(step for step in run.renamed_preview.steps if step.op == "replace")
    assert set(step.detailed) == {"values.nameOverride"}


def test_enabling_compute_domains_creates_their_definitions_first(run: Run) -> None:
    assert run.domains_on.ok, run.domains_on.output
    assert changed(run.domains_on) == [
        ("create", "driver-computedomains"),
        ("update", "driver-release"),
    ]


def test_failed_release_is_recorded_and_retried(run: Run) -> None:
    assert not run.failed.ok
    assert "deadline exceeded" in run.failed.output
    assert run.failed_state["outputs"]["status"]["status"] == "failed"
    assert run.retried.ok, run.retried.output
    assert ("update", "driver-release") in changed(run.retried)


def test_failure_hidden_by_a_refresh_is_reported_with_a_working_fix(
    run: Run,
) -> None:
    assert run.refreshed.ok
    assert not run.hidden.ok
    assert 'release "nvidia-dra-driver" is "failed", not deployed' in run.hidden.output
    assert "Traceback" not in run.hidden.output
    assert run.repaired.ok, run.repaired.output


def test_protected_resources_are_not_destroyed(run: Run) -> None:
    assert not run.refused.ok
    assert "protect" in run.refused.output
    assert not [
        name for op, name in changed(run.refused) if op == "delete" and name != "classes-large-gpu"
    ]
    assert run.destroyed.ok, run.destroyed.output
    assert run.left == []
