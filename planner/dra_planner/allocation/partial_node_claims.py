"""Claims that the scheduler allocates, but that a driver can't prepare, because it prepares only
all devices of a node together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.search.holdings import Pick
from dra_planner.drivers import driver_of
from dra_planner.wording import counted


def part_of_node(node: NodeState, picks: Sequence[Pick]) -> tuple[str, str]:
    """Return why a driver can't prepare these devices for one claim, and the request to use
    instead. Both texts are empty if the driver can prepare them.
    """
    candidates = node.template.candidates
    of_claim = Counter(candidates[pick.index].driver for pick in picks if not pick.admin)
    for domain, number in of_claim.items():
        driver = driver_of(domain)
        if driver is None or not driver.partial_claim_error:
            continue
        there = sum(each.driver == domain for each in candidates)
        if number < there:
            return (
                f"{driver.name_in_text} prepares a claim only if it requests all "
                f"{counted(there, 'device')} on a node. This claim requests {number}, so the pod "
                f'would stay in ContainerCreating with the error "{driver.partial_claim_error}"'.format(
                    asked=number, there=there
                ),
                f"request {there} devices, or set allocationMode to All",
            )
    return "", ""
