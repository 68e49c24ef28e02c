"""A GPU Operator in the same cluster as a platform: no finding with the values on the page, and the
right finding if a value is missing.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN

PAGE = Path(__file__).parents[2] / "docs/operations/existing.md"
SECTION = re.search(
    r"## Use with the NVIDIA GPU Operator\n(.*?)\n## ", PAGE.read_text(encoding="utf-8"), re.DOTALL
)
assert SECTION
DOCUMENTED: dict[str, Any] = {}
for block in re.findall(r"```yaml\n(.*?)```", SECTION[1], re.DOTALL):
    DOCUMENTED |= yaml.safe_load(block)
VALUES, LABELS = DOCUMENTED["gpu-operator"], DOCUMENTED["labels"]
IN_CONTAINER = DOCUMENTED["driver-in-a-container"]
CLUSTER_WIDE = {"driver": False, "toolkit": False, "devicePlugin": False, "migManager": False}
DRIVER = {"gpuResourcesEnabledOverride": True, "resources": {"computeDomains": {"enabled": False}}}


def stack(
    declare: SimpleNamespace,
    values: Any,
    labels: Any = None,
    *,
    image: str = "AL2023_x86_64_NVIDIA",
    root: str = "/",
) -> list[Resource]:
    """Return the resources of a cluster with a MIG layout and a GPU operator that has these
    values.
    """
    planned = {
        "name": "a100",
        "machine": "p4d.24xlarge",
        "count": {"min": 1, "max": 2},
        "mig": "all-3g.20gb",
    }
    ours = {
        "nvidia.com/gpu.dra": "true",
        "nvidia.com/gpu.present": "true",
        "pulumi-dra/pool": "a100",
        **(labels or {}),
    }
    planned["labels"] = labels or {}
    return [
        declare.record(pools=[planned]),
        declare.node_group(
            "a100",
            machine="p4d.24xlarge",
            pool="a100",
            counts=(1, 1, 2),
            labels=ours,
            amiType=image,
            version="1.34",
        ),
        declare.release(
            "nvidia-dra-driver-gpu", {**DRIVER, "nvidiaDriverRoot": root}, version="25.8.1"
        ),
        declare.release("gpu-operator", values, name="operator"),
    ]


def broken_rules(resources: list[Resource]) -> set[str]:
    """Return the rules that are broken."""
    judge = Judge(RULES)
    entries = [entry for each in resources for entry in judge.of_resource(each)]
    entries += judge.of_stack(resources)
    about = {
        "mig-laid-out-twice",
        "device-plugin-on-dra-node",
        "driver-root-wrong",
        "managed-driver-on-dra-node",
    }
    return {entry.rule.id for entry in entries if entry.rule.id in about and entry.finding.certain}


def test_documented_values_have_no_findings(declare: SimpleNamespace) -> None:
    assert {part: VALUES[part]["enabled"] for part in CLUSTER_WIDE} == CLUSTER_WIDE
    assert broken_rules(stack(declare, VALUES)) == set()


def test_documented_labels_have_no_findings(declare: SimpleNamespace) -> None:
    assert set(LABELS.values()) == {"false"}
    assert broken_rules(stack(declare, {}, LABELS)) == set()


@pytest.mark.parametrize(
    ("part", "rule"),
    [("devicePlugin", "device-plugin-on-dra-node"), ("migManager", "mig-laid-out-twice")],
)
def test_a_missing_value_is_reported(declare: SimpleNamespace, part: str, rule: str) -> None:
    values = copy.deepcopy(VALUES)
    del values[part]

    assert broken_rules(stack(declare, values)) == {rule}


@pytest.mark.parametrize(
    ("label", "rule"),
    [("device-plugin", "device-plugin-on-dra-node"), ("mig-manager", "mig-laid-out-twice")],
)
def test_a_missing_label_is_reported(declare: SimpleNamespace, label: str, rule: str) -> None:
    labels = {
        key: value for key, value in LABELS.items() if key != f"nvidia.com/gpu.deploy.{label}"
    }

    assert broken_rules(stack(declare, {}, labels)) == {rule}


def test_a_mig_manager_without_a_default_configuration_is_accepted(
    declare: SimpleNamespace,
) -> None:
    values = {**VALUES, "migManager": {"enabled": True, "config": {"default": ""}}}

    assert broken_rules(stack(declare, values)) == set(), (
        "it lays out what is labelled for it alone"
    )


@pytest.mark.parametrize("part", ["devicePlugin", "migManager"])
def test_an_unknown_value_is_not_a_fault(declare: SimpleNamespace, part: str) -> None:
    assert broken_rules(stack(declare, {**VALUES, part: {"enabled": UNKNOWN}})) == set()


def test_the_root_of_the_operators_driver_is_checked(declare: SimpleNamespace) -> None:
    root, bare = "/run/nvidia/driver", "AL2023_x86_64_STANDARD"

    assert broken_rules(stack(declare, IN_CONTAINER, image=bare, root=root)) == set()
    assert broken_rules(stack(declare, IN_CONTAINER, image=bare)) == {"driver-root-wrong"}
    assert broken_rules(stack(declare, VALUES, root=root)) == {"driver-root-wrong"}, (
        "its driver is off"
    )
