"""The amounts of shared devices that a pod consumes: requested, rounded by the device's request
policy, and remaining.

Source of the rounding:
kubernetes/dynamic-resource-allocation:structured/internal/*/consumable_capacity.go @v0.36.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.search.amounts import from_nano, nano
from dra_planner.allocation.search.devices import Candidate
from dra_planner.allocation.search.holdings import Pick
from dra_planner.allocation.verdicts import Placement
from dra_planner.model import DeviceCapacity, RequestPolicy, ShapeClaim
from dra_planner.quantity import Quantity


class Share(Struct, frozen=True, kw_only=True):
    """The amount of one capacity that a request of a claim consumes of a device.

    `requested` is None if the request doesn't set the capacity, so the device's request policy
    does. `total` is the device's capacity, and `left` is the amount that remains in the node's
    state. `enough_for_more` is the largest request with which one more claim fits on an empty
    device, or None if the policy doesn't allow a smaller request.
    """

    request: str
    device: str
    capacity: str
    requested: Quantity | None
    consumed: Quantity
    total: Quantity
    left: Quantity
    enough_for_more: Quantity | None

    @property
    def per_device(self) -> int:
        """Number of such claims that fit on an empty device."""
        return nano(self.total) // nano(self.consumed)

    @property
    def amount(self) -> str:
        """The consumed part of the device's capacity."""
        return f"{self.consumed} of {self.total} {self.capacity}"

    @property
    def is_rounded(self) -> bool:
        """Whether the device's request policy raised the request."""
        return self.requested is not None and self.requested < self.consumed


def shares_of(placement: Placement) -> tuple[Share, ...]:
    """Return the amounts that a placed pod consumes of shared devices, in the order of its
    claims.
    """
    claims = {claim.name: claim for claim in placement.shape.claims}
    return tuple(
        share
        for got in placement.picks
        for pick in got.picks
        for share in shares_of_pick(pick, claims.get(got.name), placement.node)
    )


def shares_of_pick(pick: Pick, claim: ShapeClaim | None, node: NodeState) -> tuple[Share, ...]:
    """Return the amounts that one pick of a claim consumes, and the amounts that remain in this
    state of the node. The result is empty if the device isn't shared. Without the claim,
    `requested` is None.
    """
    if pick.share is None:
        return ()
    candidate = node.template.candidates[pick.index]
    used = dict(dict(node.shares).get(pick.index, ()))
    requested = _requested(claim, pick.request) if claim is not None else {}
    return tuple(_shares(pick, requested, candidate, used))


def limiting_share(shares: Sequence[Share]) -> Share | None:
    """Return the share that limits how many such claims fit on a device, or None if no device is
    shared.
    """
    return min(shares, key=lambda each: each.per_device, default=None)


def share_limit(shares: Sequence[Share]) -> str:
    """Return how many such claims fit on a device, and which amount limits the number.

    Returns "" if no device is shared.
    """
    share = limiting_share(shares)
    if share is None:
        return ""
    smaller = share.enough_for_more
    more = nano(share.total) // nano(smaller) if smaller else 0
    is_only_one = len({(each.request, each.device) for each in shares}) == 1
    others = [each for each in shares if each.capacity != share.capacity]
    helps = more and is_only_one and all(each.per_device >= more for each in others)
    hint = f"; {more} claims fit if each requests at most {smaller}" if helps else ""
    if share.per_device == 1:
        return f"1 claim fits on a device, because it uses {share.amount}{hint}"
    return f"{share.per_device} claims fit on a device, because each uses {share.amount}{hint}"


def _shares(
    pick: Pick, requested: Mapping[str, Quantity], candidate: Candidate, used: Mapping[str, int]
) -> Iterator[Share]:
    for name, amount in pick.share or ():
        capacity = candidate.device.capacity[name]
        total = capacity.value
        if not amount or not isinstance(total, Quantity):
            continue
        yield Share(
            request=pick.request,
            device=candidate.id.device,
            capacity=name.rpartition("/")[2],
            requested=requested.get(name),
            consumed=from_nano(amount, like=total),
            total=total,
            left=from_nano(nano(total) - used.get(name, amount), like=total),
            enough_for_more=_enough_for_more(total, capacity, amount),
        )


def _requested(claim: ShapeClaim, label: str) -> dict[str, Quantity]:
    """Return the capacities that a request or one of its alternatives sets."""
    for request in claim.spec.requests:
        if request.exactly is not None and request.name == label:
            return dict(request.exactly.capacity)
        for way in request.first_available:
            if f"{request.name}/{way.name}" == label:
                return dict(way.capacity)
    return {}


def _enough_for_more(total: Quantity, capacity: DeviceCapacity, amount: int) -> Quantity | None:
    most = nano(total) // (nano(total) // amount + 1)
    allowed = _round_down(most, capacity.request_policy)
    return from_nano(allowed, like=total) if allowed else None


def _round_down(amount: int, policy: RequestPolicy | None) -> int:
    """Return the largest amount that the policy allows and that isn't greater than this amount, or
    0 if there is none.
    """
    if policy is None:
        return amount
    valid = policy.valid_range
    if valid is None:
        values = [nano(each) for each in policy.valid_values]
        return max((each for each in values if each <= amount), default=0) if values else amount
    least = nano(valid.minimum)
    if amount < least:
        return 0
    step = nano(valid.step) if valid.step is not None else 1
    return least + (amount - least) // step * step
