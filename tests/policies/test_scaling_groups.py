"""Auto Scaling groups without a node group: nothing is refused, because the labels and taints of
their nodes are unknown.
"""

from __future__ import annotations

import pytest
from seeded_stacks import Edit, base, edited, findings_of

TEMPLATE = {
    "instanceType": "p4d.24xlarge",
    "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
}
GROUP = {"minSize": 1, "maxSize": 4, "launchTemplate": {"name": "a100-template"}}
ELSEWHERE = {"web/spec/template/spec/nodeSelector": {"role": "a100"}}
FORMS: dict[str, Edit] = {
    "by an output": {
        "a100": {
            "type": "aws:autoscaling/group:Group",
            "props": GROUP,
            "sources": {"launchTemplate": ["made"]},
        },
        "made": {"type": "aws:ec2/launchTemplate:LaunchTemplate", "props": TEMPLATE},
    },
    "by its name": {
        "a100": {"type": "aws:autoscaling/group:Group", "props": GROUP},
        "made": {
            "type": "aws:ec2/launchTemplate:LaunchTemplate",
            "props": {**TEMPLATE, "name": "a100-template"},
        },
    },
    "in CloudFormation": {
        "a100": {
            "type": "aws:ec2/launchConfiguration:LaunchConfiguration",
            "props": {"instanceType": "p4d.24xlarge", "imageId": "ami-0123456789abcdef0"},
        },
    },
}


@pytest.mark.parametrize("name", FORMS)
def test_a_claim_that_may_fit_a_scaling_group_is_in_doubt(name: str) -> None:
    entries = findings_of(edited(base("raw-eks"), {**FORMS[name], **ELSEWHERE}))

    assert [entry.rule for entry in entries if entry.level == "mandatory"] == []
    sentences = [entry.sentence for entry in entries if entry.rule == "stack-cannot-be-judged"]
    assert any("can't check the nodes of" in each and '"a100"' in each for each in sentences)
    assert any("claim-fits-no-pool" in each and '"a100"' in each for each in sentences)


def test_scaling_groups_without_gpus_are_ignored() -> None:
    assert (
        findings_of(
            edited(base("raw-eks"), {**FORMS["by its name"], "made/instanceType": "m7i.large"})
        )
        == []
    )


SELF = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]
EFA = {
    **FORMS["by an output"],
    "efa": {"type": "aws:ec2/securityGroup:SecurityGroup", "props": {"ingress": SELF}},
    "made/networkInterfaces": [{"interfaceType": "efa", "networkCardIndex": 0}],
    "made@networkInterfaces": ["efa"],
}
BLOCK = {
    **FORMS["by an output"],
    "made/capacityReservationSpecification": {
        "capacityReservationTarget": {"capacityReservationId": "cr-0a"}
    },
}


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("network-devices-unusable", {**EFA, "efa/egress": SELF}, {}),
    ],
    ids=["EFA behind a closed group"],
)
def test_faults_of_a_template_are_found(rule: str, good: Edit, bad: Edit) -> None:
    def rules(edit: Edit) -> set[str]:
        return {entry.rule for entry in findings_of(edited(base("raw-eks"), edit))}

    assert rule not in rules(good)
    assert rule in rules({**good, **bad} if bad else EFA)


def test_a_placement_group_with_an_external_reservation_is_in_doubt() -> None:
    def doubts(edit: Edit) -> list[str]:
        entries = findings_of(edited(base("raw-eks"), edit))
        return [
            entry.sentence
            for entry in entries
            if entry.rule == "stack-cannot-be-judged" and "placement group" in entry.sentence
        ]

    assert doubts(BLOCK) == []
    assert len(doubts({**BLOCK, "a100/placementGroup": "pg"})) == 1
