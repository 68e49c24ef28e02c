"""A GKE cluster and its workloads on the real engine."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def built(stack_under_test, tmp_path_factory):
    """Return the stack after its first `up`, and its first preview, in which the kubeconfig was
    unknown.
    """
    stack = stack_under_test(
        tmp_path_factory.mktemp("gcp"), "gcp", "  gcp:project: acme\n  gcp:region: us-central1\n"
    )
    preview = stack.engine.preview("dev")
    assert preview.ok, preview.output
    result = stack.engine.up("dev", skip_preview=True)
    assert result.ok, result.output
    return stack, preview, result


def test_a_first_preview_has_no_children_of_yaml(built) -> None:
    _, preview, _ = built

    kinds = {step.type.rsplit(":", 1)[-1] for step in preview.steps}
    assert {"DeviceClass", "Release", "ConfigGroup", "ComputeDomain"} <= kinds
    assert "ConfigMap" not in kinds


def test_up_creates_the_cluster_and_its_objects(built) -> None:
    stack, _, result = built

    assert result.change_counts == {"create": 12}
    by_type = {resource["type"]: resource for resource in stack.engine.resources("dev")}
    assert by_type["kubernetes:helm.sh/v3:Release"]["outputs"]["status"]["status"] == "deployed"
    assert by_type["kubernetes:core/v1:ConfigMap"]["id"] == "dra-driver/settings"
    assert by_type["kubernetes:core/v1:Namespace"]["outputs"]["metadata"]["uid"]
    pool = by_type["gcp:container/nodePool:NodePool"]
    assert pool["id"].startswith("projects/acme/locations/us-central1/clusters/main-")


def test_a_secret_kubeconfig_is_never_in_plain_text(built) -> None:
    stack, _, _ = built

    kubeconfig = json.loads(stack.engine.outputs("dev")["kubeconfig"])
    assert kubeconfig["clusters"][0]["cluster"]["server"].startswith("https://203.0.113.")
    outputs = next(r for r in stack.engine.resources("dev") if r["type"] == "pulumi:pulumi:Stack")[
        "outputs"
    ]
    assert "ciphertext" in outputs["kubeconfig"]


def test_a_refresh_changes_nothing_and_destroy_deletes_everything(built) -> None:
    stack, _, _ = built

    refreshed = stack.engine.refresh("dev")
    assert refreshed.ok, refreshed.output
    assert set(refreshed.change_counts) == {"same"}

    destroyed = stack.engine.destroy("dev")
    assert destroyed.ok, destroyed.output
    assert stack.engine.resources("dev") == []
