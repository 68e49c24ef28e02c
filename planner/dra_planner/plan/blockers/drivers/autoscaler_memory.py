"""GPU memory selectors that match real nodes, but not Karpenter's predicted devices.

Karpenter starts a node only if its predicted devices satisfy the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.catalog.tables import read_table
from dra_planner.claims.manifest_claims import written_claims
from dra_planner.drivers.nvidia import GPU_DRIVER
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.quantity import Quantity, QuantityError

_MIB: Final = 1024 * 1024
_AMOUNT: Final = re.compile(r"""\.memory\b[^&|]*?quantity\(\s*["']([^"']+)["']""")


def find_memory_that_starts_no_node(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield memory bounds between Karpenter's value for a machine type and the memory that its
    nodes publish.
    """
    if situation.autoscaler != "karpenter":
        return
    known = {row["machine"]: int(row["memory_mib"]) for row in read_table("karpenter_memory")}
    published = _published(situation)
    for claim in written_claims(situation.manifests):
        expressions = [
            selector.expression
            for request in claim.spec.requests
            for way in request.alternatives
            for selector in way.selectors
        ]
        for amount in dict.fromkeys(each for text in expressions for each in _AMOUNT.findall(text)):
            for machine in sorted(known.keys() & published.keys()):
                low, high = known[machine], published[machine]
                if _lies_between(amount, low, high):
                    yield fact(
                        f"{claim.title}: Karpenter assumes that each GPU of {machine} has {low}Mi "
                        f"of memory, but nodes publish {high}Mi. If a selector requires {amount}, "
                        "Karpenter doesn't start a node",
                        f'use quantity("{low}Mi") instead of quantity("{amount}")',
                        *claim.users,
                    )


def _published(situation: ClusterSituation) -> Mapping[str, int]:
    """Return the GPU memory in MiB of each planned machine type."""
    found: dict[str, int] = {}
    for offer in situation.offers:
        for device in (
            device for part in offer.slices if part.driver == GPU_DRIVER for device in part.devices
        ):
            memory = device.capacity.get("memory")
            if memory is not None and isinstance(memory.value, Quantity):
                found[offer.machine] = max(found.get(offer.machine, 0), memory.value.value // _MIB)
    return found


def _lies_between(amount: str, lower_mib: int, upper_mib: int) -> bool:
    try:
        requested = Quantity.parse(amount).value
    except QuantityError:
        return False
    return lower_mib * _MIB < requested <= upper_mib * _MIB
