"""Plans on the real scheduler: what is placed, what stays pending and why, beside what the plan says."""

from __future__ import annotations

import pytest
from plans import deployment, plan_of, sources

from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.rehearsal import Comparison, Order, Request, rehearse
from dra_sandbox.tools.kubernetes import Binaries, find_binaries

pytestmark = pytest.mark.control_plane
MINOR = 36


@pytest.fixture(scope="module")
def binaries() -> Binaries:
    return find_binaries(MINOR)


def rehearsed(binaries: Binaries, *documents: str, order: str = "document", one_by_one: bool = False) -> Comparison:
    given = sources(*documents)
    request = Request(plan=plan_of(given), sources=given, order=Order.parse(order), one_by_one=one_by_one)
    with control_plane(Settings(MINOR), binaries) as plane:
        return rehearse(plane, request)


def test_what_fits_is_placed_on_the_planned_nodes(binaries: Binaries) -> None:
    found = rehearsed(binaries, deployment("web", 3))

    (web,) = found.rows
    assert (web.wanted, web.outcome.placed, web.pending, web.difference) == (3, 3, 0, None)
    assert found.outcome.decided
    assert sum(pool.devices_used for pool in found.outcome.pools) == 3
    held = {(device.pool, device.device) for pod in web.outcome.pods for device in pod.devices}
    assert len(held) == 3
    assert all(pod.node == device.pool for pod in web.outcome.pods for device in pod.devices)


def test_what_does_not_fit_stays_pending_in_the_schedulers_words(binaries: Binaries) -> None:
    found = rehearsed(binaries, deployment("web", 20), order="reversed", one_by_one=True)

    (web,) = found.rows
    assert web.planned is not None
    assert (web.outcome.placed, web.pending) == (12, 8)  # four nodes with one GPU, two with four
    assert (web.planned.placed, web.difference) == (12, None)
    assert all("cannot allocate all claims" in words for words in web.outcome.words)
    assert found.order == "reversed, one by one"


def test_refusals_of_the_api_server_are_told_as_the_plan_tells_them(binaries: Binaries) -> None:
    nameless = "apiVersion: v1\nkind: Pod\nmetadata: {name: nothing}\nspec: {containers: []}\n"
    missing = deployment("orphan", 1).replace("one-gpu", "no-such-template")

    found = rehearsed(binaries, nameless, missing)

    nothing, orphan = found.rows
    assert nothing.difference is not None
    assert nothing.difference.reason == "refused-as-planned"
    assert "spec.containers: Required value" in nothing.outcome.refused
    assert (orphan.outcome.placed, orphan.pending, orphan.difference) == (0, 1, None)
