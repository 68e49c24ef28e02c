"""The pack on the real engine: what it stops, and when; an exported state has the same findings."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dra_sandbox.engine import Engine
from dra_sandbox.run_result import RunResult

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).parent / "program"
PACK = Path(__file__).parents[2] / "policies"
CLOUDS = ("aws:", "gcp:", "kubernetes:")


class Project:
    """The small program, with settings that a test chooses."""

    def __init__(self, folder: Path) -> None:
        self.engine = Engine(folder, PROGRAM)
        self.engine.stack_init("dev")
        self._settings = self.engine.settings_folder / "Pulumi.dev.yaml"

    def configure(self, **settings: Any) -> None:
        document = yaml.safe_load(self._settings.read_text()) or {}
        texts = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in settings.items()
        }
        config = {
            "aws:region": "us-east-1",
            **{f"judged:{key}": text for key, text in texts.items()},
        }
        self._settings.write_text(yaml.safe_dump({**document, "config": config}))

    def types(self) -> list[str]:
        return [str(resource["type"]) for resource in self.engine.resources("dev")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project with a fresh backend."""
    return Project(tmp_path)


def refused(result: RunResult) -> dict[str, set[str]]:
    """Return the mandatory violations as policy → names of the resources."""
    found: dict[str, set[str]] = {}
    for violation in result.violations:
        if violation.level == "mandatory":
            found.setdefault(violation.policy, set()).add(violation.urn.rpartition("::")[2])
    return found


def test_nothing_is_created_from_a_plan_that_does_not_fit(
    project: Project, declare: SimpleNamespace
) -> None:
    project.configure(plan=declare.plan_text(declare.job(8)), counts=[4, 4, 4])

    preview = project.engine.preview("dev", policy_pack=PACK)
    update = project.engine.up("dev", policy_pack=PACK, skip_preview=True)

    for result in (preview, update):
        assert not result.ok
        assert refused(result) == {"pool-maximum-too-small": {"plan"}}
        assert (
            'the pods\' claims need 8 devices in total, but pool "l4" has at most 4 (4 nodes × 1)'
            in result.output
        )
        assert "Traceback" not in result.output
    assert "pulumi:pulumi:Stack" in project.types()
    assert [token for token in project.types() if token.startswith(CLOUDS)] == []


def test_a_manually_edited_plan_stops_the_update(
    project: Project, declare: SimpleNamespace
) -> None:
    document = json.loads(declare.plan_text())
    document["pools"][0]["nodes"]["max"] = 40
    project.configure(plan=json.dumps(document))

    update = project.engine.up("dev", policy_pack=PACK, skip_preview=True)

    assert refused(update) == {"plan-record-invalid": {"plan"}}
    assert [token for token in project.types() if token.startswith(CLOUDS)] == []


def test_first_preview_and_exported_state_have_the_same_findings(
    project: Project, declare: SimpleNamespace, tmp_path: Path
) -> None:
    """The cluster is unknown in the preview and known in the state: the verdict is the same."""
    expected = {
        "device-plugin-on-dra-node": {"nvidia-device-plugin"},
        "pool-maximum-too-small": {"train"},
    }
    project.configure(
        plan=declare.plan_text(), manifests=declare.job_objects(8), device_plugin=True
    )

    preview = project.engine.preview("dev", policy_pack=PACK)
    unjudged = project.engine.up("dev")
    state = tmp_path / "state.json"
    state.write_text(json.dumps(project.engine.export("dev")))
    analysis = project.engine.policy_analyze(state, PACK)

    assert refused(preview) == expected
    assert unjudged.ok, unjudged.output
    assert not analysis.ok
    for policy in expected:
        assert analysis.output.count(f"[mandatory]  {policy} ") == 1
    assert analysis.output.count("[mandatory]") == len(expected)


def test_a_valid_stack_passes(project: Project, declare: SimpleNamespace) -> None:
    project.configure(plan=declare.plan_text(declare.job(2)), manifests=declare.job_objects(2))

    update = project.engine.up("dev", policy_pack=PACK)

    assert update.ok, update.output
    violations = {(each.policy, each.level) for each in update.violations}
    advice = {
        ("security-baseline", "advisory"),
        ("disk-too-small", "advisory"),
        ("kubernetes-support-ends", "advisory"),
    }
    assert violations <= advice  # the program declares clusters and nodes only briefly


def configured(folder: Path, text: str, variable: str) -> Project:
    """Return a project with a configuration, which the pack finds by a variable of the engine's
    environment.
    """
    file = folder / "pulumi-dra.yaml"
    file.write_text(text)
    made = Project(folder)
    (folder / "stacks").mkdir()
    where = {"PWD": folder / "stacks", "PULUMI_DRA_CONFIG": file}[variable]
    made.engine = Engine(folder, PROGRAM, environment={variable: str(where)})
    return made


def test_the_pack_uses_the_projects_configuration(tmp_path: Path, declare: SimpleNamespace) -> None:
    project = configured(
        tmp_path,
        """\
rules: {security-baseline: disabled}
exemptions:
  - {rule: pool-maximum-too-small, object: Job default/train, reason: nodes are bought by hand}
  - {rule: driver-missing, object: "*", reason: it was installed later, expires: 2020-01-01}
""",
        "PWD",
    )
    project.configure(plan=declare.plan_text(declare.job(8)), counts=[4, 4, 4])

    preview = project.engine.preview("dev", policy_pack=PACK)

    assert refused(preview) == {}
    messages = {each.policy: each.message for each in preview.violations}
    assert "expired on 2020-01-01" in messages["exemption-without-effect"]
    assert "security-baseline" not in messages


def test_an_invalid_configuration_stops_the_run(tmp_path: Path, declare: SimpleNamespace) -> None:
    project = configured(tmp_path, "rules: {claim-fits-no-pol: advisory}\n", "PULUMI_DRA_CONFIG")
    project.configure(plan=declare.plan_text(declare.job(2)))

    preview = project.engine.preview("dev", policy_pack=PACK)

    assert not preview.ok
    assert 'rule "claim-fits-no-pol" doesn\'t exist; use "claim-fits-no-pool"' in preview.output
    assert "Traceback" not in preview.output


def test_remediation_sets_counts_to_the_planned_ones(
    tmp_path: Path, declare: SimpleNamespace
) -> None:
    project = configured(tmp_path, "rules: {pool-differs-from-plan: remediate}\n", "PWD")
    project.configure(plan=declare.plan_text(), counts=[0, 2, 9])

    preview = project.engine.preview("dev", policy_pack=PACK)
    update = project.engine.up("dev", policy_pack=PACK)
    again = project.engine.up("dev", policy_pack=PACK)

    assert "[remediate]  pool-differs-from-plan  (1 resource)" in preview.output
    (group,) = (
        each
        for each in project.engine.resources("dev")
        if each["type"] == "aws:eks/nodeGroup:NodeGroup"
    )
    counts = group["inputs"]["scalingConfig"]
    assert (counts["minSize"], counts["desiredSize"], counts["maxSize"]) == (2, 2, 4)
    assert update.ok
    assert refused(update) == {}
    assert "updated" not in again.output
