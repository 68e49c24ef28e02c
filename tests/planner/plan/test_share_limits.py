"""Shares of devices: the amounts that a claim requests, consumes, and leaves, and how many claims
a device fits. Each answer names them: the plan's reason, `explain`, and the table of claims.
"""

from __future__ import annotations

import re

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import Verdict
from dra_planner.plan import detail_claims
from dra_planner.plan.explanation.claims import explain_claim_of_plan
from dra_planner.plan.nodes.share_limits import share_limits
from dra_planner.sources import Source

T4 = "g4dn.xlarge"  # publishes 15Gi


def sharing(method: str = "memory", most: int = 4) -> Fleet:
    given = fleet((T4, {"min": 0, "max": most}), kubernetes="1.36")
    changes = (
        "drivers.nvidia.version=0.5.0",
        "drivers.nvidia.featureGates.ConsumableShares=true",
        f"drivers.nvidia.consumableShares={method}",
    )
    return change_fleet(given, [read_change(each) for each in changes])


def requesting(amounts: str, replicas: int = 2) -> Source:
    text = deployment(replicas=replicas).text
    part = f", capacity: {{requests: {amounts}}}" if amounts else ""
    return Source("web.yaml", text.replace("count: 1", f"count: 1{part}"))


@pytest.mark.parametrize(
    ("name", "method", "amounts", "expected"),
    [
        (
            "8Gi twice is more than 15Gi",
            "memory",
            "{memory: 8Gi}",
            (
                "1 claim fits on a device, because it uses 8Gi of 15Gi memory; 2 claims fit if "
                "each requests at most 7680Mi"
            ),
        ),
        (
            "7Gi twice fits",
            "memory",
            "{memory: 7Gi}",
            (
                "2 claims fit on a device, because each uses 7Gi of 15Gi memory; 3 claims fit if "
                "each requests at most 5Gi"
            ),
        ),
        (
            "decimal amounts are rounded up to whole Mi",
            "memory",
            "{memory: 8G}",
            (
                "2 claims fit on a device, because each uses 7630Mi of 15Gi memory; 3 claims fit "
                "if each requests at most 5Gi"
            ),
        ),
        (
            "without an amount, the claim gets all of it",
            "memory",
            "",
            (
                "1 claim fits on a device, because it uses 15Gi of 15Gi memory; 2 claims fit if "
                "each requests at most 7680Mi"
            ),
        ),
        ("equal shares", "4", "", "4 claims fit on a device, because each uses 1 of 4 shares"),
        (
            "equal shares, of which a claim requests two",
            "4",
            "{shares: 2}",
            (
                "2 claims fit on a device, because each uses 2 of 4 shares; 4 claims fit if each "
                "requests at most 1"
            ),
        ),
        (
            "the memory limits claims of equal shares",
            "4",
            "{memory: 8Gi}",
            (
                "1 claim fits on a device, because it uses 8Gi of 15Gi memory; 2 claims fit if "
                "each requests at most 7680Mi"
            ),
        ),
    ],
)
def test_plan_reports_how_many_claims_fit_on_a_device(
    name: str, method: str, amounts: str, expected: str
) -> None:
    plan = plan_of(sharing(method), requesting(amounts))
    assert list(share_limits(plan)) == [f"default/web-gpu on {plan.pools[0].name}: {expected}"], (
        name
    )


@pytest.mark.parametrize(
    ("amount", "nodes"), [("8Gi", 2), ("7681Mi", 2), ("7680Mi", 1), ("5Gi", 1)]
)
def test_suggested_amount_lets_one_more_claim_fit(amount: str, nodes: int) -> None:
    plan = plan_of(sharing(), requesting(f"{{memory: {amount}}}"))
    assert [pool.packing for pool in plan.pools] == [nodes]


def test_plan_without_shared_devices_reports_no_limit() -> None:
    assert list(share_limits(plan_of(fleet((T4, {"min": 0, "max": 4})), deployment()))) == []


def test_pool_that_is_too_small_is_explained_in_shares() -> None:
    plan = plan_of(sharing(most=1), requesting("{memory: 8Gi}"))
    (reason, *_) = plan.workloads[0].reasons
    assert plan.verdict == "does-not-fit"
    assert (
        "claim default/web-gpu needs 1 more share (1 claim fits on a device, because it uses "
        "8Gi of 15Gi memory; 2 claims fit if each requests at most 7680Mi)"
    ) in reason.message


@pytest.mark.parametrize(("amount", "verdict"), [("8Gi", "does-not-fit"), ("7680Mi", "fits")])
def test_explain_agrees_with_the_plan_about_shares(amount: str, verdict: Verdict) -> None:
    plan = plan_of(sharing(most=1), requesting(f"{{memory: {amount}}}"))
    explanation = explain_claim_of_plan(plan, "default/web-gpu")
    (share,) = explanation.pools[0].shares
    assert (plan.running, explanation.verdict) == (verdict, plan.verdict)
    assert (str(share.requested), str(share.consumed), str(share.total)) == (
        amount,
        amount,
        "15Gi",
    )


def test_claims_list_consumed_and_remaining_capacity() -> None:
    plan = plan_of(sharing(), requesting("{memory: 4G}", replicas=3))
    shares = [each.shares[0] for claim in detail_claims(plan) for each in claim.devices]
    assert [str(each.requested) for each in shares] == ["4G"] * 3
    assert [str(each.consumed) for each in shares] == ["3815Mi"] * 3
    assert {str(each.left) for each in shares} == {f"{15 * 1024 - 3 * 3815}Mi"}
    assert all(each.is_rounded for each in shares)


def test_claims_of_whole_devices_have_no_shares() -> None:
    plan = plan_of(fleet((T4, {"min": 0, "max": 4})), deployment())
    assert [each.shares for claim in detail_claims(plan) for each in claim.devices] == [()] * len(
        detail_claims(plan)
    )


def test_claim_with_two_requests_gets_no_suggested_amount() -> None:
    text = requesting("{memory: 4Gi}").text
    (request,) = re.findall(r"requests: \[(.*)\]", text)
    both = text.replace(request, f"{request}, {request.replace('gpu', 'other', 1)}")
    (limit,) = share_limits(plan_of(sharing(), Source("web.yaml", both)))
    assert limit.endswith("3 claims fit on a device, because each uses 4Gi of 15Gi memory")
