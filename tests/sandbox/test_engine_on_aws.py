"""One AWS stack on the real engine: refused, created, unchanged, changed, and destroyed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
SETTINGS = "  aws:region: us-east-1\n"


@pytest.fixture(scope="module")
def built(stack_under_test, tmp_path_factory):
    """The stack after its first `up`."""
    stack = stack_under_test(tmp_path_factory.mktemp("aws"), "aws", SETTINGS)
    result = stack.engine.up("dev", skip_preview=True)
    assert result.ok, result.output
    return stack, result


def test_a_pack_rejects_an_update_before_the_group_is_created(
    stack_under_test, policy_pack: Path, tmp_path: Path
) -> None:
    stack = stack_under_test(tmp_path, "aws", SETTINGS)
    stack.at("grow")

    refused = stack.engine.up("dev", policy_pack=policy_pack, skip_preview=True)

    assert not refused.ok
    assert [(found.policy, found.level) for found in refused.violations] == [
        ("small-groups", "mandatory")
    ]
    # The pack knows the stack's name: its process starts only after the engine has passed it.
    assert refused.violations[0].message.endswith("gpu: 3 nodes are more than 2 in stack dev")
    assert NODE_GROUP not in {resource["type"] for resource in stack.engine.resources("dev")}


def test_up_creates_every_resource_with_computed_outputs(built) -> None:
    stack, result = built

    assert result.change_counts == {"create": 8}
    outputs = stack.engine.outputs("dev")
    assert outputs["issuer"].startswith("https://oidc.eks.us-east-1.amazonaws.com/id/")
    assert json.loads(outputs["kubeconfig"])["server"].endswith(".eks.amazonaws.com")
    assert outputs["templateVersion"] == 1
    assert outputs["trust"]["Statement"][0]["Principal"] == {"Service": "eks.amazonaws.com"}
    assert outputs["nodes"].startswith("gpu-")


def test_plugins_cause_no_warnings(built) -> None:
    _, result = built

    assert result.diagnostics == ()


def test_a_second_up_changes_nothing(built) -> None:
    stack, _ = built
    stack.at("first")

    again = stack.engine.up("dev", skip_preview=True)

    assert again.changed_nothing, again.output


def test_a_new_machine_type_replaces_the_group_in_a_checked_preview(
    built, policy_pack: Path
) -> None:
    """The template changes in place; values that the group takes from it are unknown until then."""
    stack, _ = built
    stack.at("machine")

    preview = stack.engine.preview("dev", policy_pack=policy_pack)

    assert preview.ok, preview.output
    assert preview.change_counts == {"same": 6, "update": 1, "replace": 1}
    group = next(step for step in preview.steps if step.op == "replace")
    assert group.replace_keys == ("instanceTypes",)
    assert dict(group.detailed) == {
        "instanceTypes[0]": "update-replace",
        "labels.step": "update",
        "launchTemplate.version": "update",
    }
    assert [found.message.splitlines()[-1] for found in preview.violations] == [
        "region us-east-1, 8 types"
    ]


def test_an_exported_state_is_checked_without_program_or_provider(
    built, policy_pack: Path, tmp_path: Path
) -> None:
    stack, _ = built
    state = tmp_path / "state.json"
    document = stack.engine.export("dev")
    for resource in document["deployment"]["resources"]:
        if resource["type"] == NODE_GROUP:
            resource["outputs"]["scalingConfig"]["maxSize"] = resource["inputs"]["scalingConfig"][
                "maxSize"
            ] = 9
    state.write_text(json.dumps(document))

    judged = stack.engine.policy_analyze(state, policy_pack)

    assert judged.exit_code != 0
    assert "gpu: 9 nodes are more than 2" in judged.output


def test_destroy_deletes_everything(built) -> None:
    stack, _ = built

    destroyed = stack.engine.destroy("dev")

    assert destroyed.ok, destroyed.output
    assert stack.engine.resources("dev") == []
