"""Findings use the property names of the provider that the program uses."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from seeded_stacks import HERE, base, edited, findings_of

CHANGES = {
    each["change"]: each
    for each in yaml.safe_load((HERE / "quiet" / "changes.yaml").read_text(encoding="utf-8"))
}

# Correct stack → property to set, its value, and words of the finding after that.
CASES: dict[str, tuple[str, str, Any, str, str]] = {
    "a subnet of pulumi-azure": (
        "pools of pulumi-azure",
        "gpus/podSubnetId",
        "/subscriptions/s/subnets/pods",
        "pool-refused-by-cloud",
        "set vnetSubnetId",
    ),
    "an image of pulumi-azure": (
        "pools of pulumi-azure",
        "gpus/osSku",
        "CBLMariner",
        "pool-refused-by-cloud",
        "set osSku to",
    ),
    "a driver of pulumi-azure": (
        "pools of pulumi-azure",
        "gpus/gpuDriver",
        "None",
        "image-without-driver",
        "remove gpuDriver,",
    ),
    "a count of pulumi-azure": (
        "pools of pulumi-azure",
        "gpus/nodeCount",
        9,
        "pool-refused-by-cloud",
        "set nodeCount to 6 or less",
    ),
    "counts of aws-native": (
        "a node group of aws-native",
        "gpus/scalingConfig/desiredSize",
        9,
        "pool-refused-by-cloud",
        "set scalingConfig.desiredSize to 6 or less",
    ),
    "an endpoint of aws-native": (
        "a node group of aws-native",
        "native",
        {
            "type": "aws-native:eks:Cluster",
            "props": {
                "version": "1.34",
                "resourcesVpcConfig": {"endpointPublicAccess": True},
            },
        },
        "security-baseline",
        "set resourcesVpcConfig.endpointPublicAccess to false, or "
        "set resourcesVpcConfig.publicAccessCidrs",
    ),
}


@pytest.mark.parametrize(
    ("change", "where", "value", "rule", "words"), CASES.values(), ids=list(CASES)
)
def test_a_fix_uses_the_providers_property_names(
    change: str, where: str, value: Any, rule: str, words: str
) -> None:
    clean = CHANGES[change]
    stack = edited(edited(base(clean["base"]), clean["edit"]), {where: value})
    fixes = [each.fix for each in findings_of(stack) if each.rule == rule]
    assert any(fix.startswith(words) or words in fix for fix in fixes), fixes
