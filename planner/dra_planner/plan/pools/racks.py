"""Racks with multi-node NVLink.

Each ComputeDomain is inside one rack, and nodes are counted in whole racks. A node runs pods of one
ComputeDomain, and one pod with a channel at a time, because the driver publishes one channel. A
label (nvidia.com/gpu.clique), whose value is known only at run time, identifies a node's rack. The
machine type determines the number of nodes in a rack. Source:
kubernetes-sigs/dra-driver-nvidia-gpu:cmd/compute-domain-kubelet-plugin@95932046.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.drivers.nvidia import COMPUTE_DOMAIN_DRIVER
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.model import Shape, nodes_left
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.wording import counted, listed

MOST_STEPS = 20_000
"""Maximum number of steps in the search for the fewest racks."""
MOST_SEARCHED = 200
"""Maximum number of ComputeDomains in one pool for the search, which recurses once per domain."""
CLIQUE = "nvidia.com/gpu.clique"
RACKS_EXCEED_MAXIMUM: Final = "racks-exceed-maximum"
"""The code of the error that a pool's maximum is too low for complete racks."""


class PoolRacks(Struct, frozen=True, kw_only=True):
    """Nodes of each ComputeDomain in a pool, and the number and size of their racks.

    `size` is None if the machine type has no NVLink between nodes. `is_least` is set if fewer racks
    provably don't suffice.
    """

    pool: str
    machine: str
    size: int | None
    domains: Mapping[str, int]
    racks: int
    is_least: bool

    @property
    def nodes(self) -> int:
        """The number of nodes in these racks."""
        return self.racks * (self.size or 0)


def domains_of(shape: Shape) -> tuple[str, ...]:
    """Return the ComputeDomains (namespace/name) whose channels a shape's pods use."""
    return tuple(
        str(config.parameters.get("domainID"))
        for claim in shape.claims
        for config in claim.spec.config
        if config.driver == COMPUTE_DOMAIN_DRIVER
        and config.parameters.get("kind") == "ComputeDomainChannelConfig"
    )


def find_racks(judgement: Judgement, fleet: Fleet) -> tuple[PoolRacks, ...]:
    """Return the racks that ComputeDomains need in each pool in which the packing places their
    pods. A domain in one pool also needs nodes for its pending pods there.
    """
    by_shape = {
        shape.id: found for shape in judgement.demand.shapes if (found := domains_of(shape))
    }
    if not by_shape:
        return ()
    taken: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pattern in judgement.sizing.patterns:
        here = {domain for shape, _ in pattern.pods for domain in by_shape.get(shape, ())}
        for domain in here:
            taken[pattern.pool][domain] += pattern.nodes
    pools_of = Counter(domain for domains in taken.values() for domain in domains)
    for domain, pods in _domain_pods(judgement).items():
        for domains in taken.values() if pools_of[domain] == 1 else ():
            if domain in domains:
                domains[domain] = max(pods, domains[domain])
    return tuple(
        _in_racks(fleet, pool.name, taken[pool.name]) for pool in fleet.pools if pool.name in taken
    )


def _domain_pods(judgement: Judgement) -> Counter[str]:
    """Return the number of pods of each ComputeDomain at the evaluated level."""
    pods: Counter[str] = Counter()
    for shape in judgement.demand.shapes:
        for domain in domains_of(shape):
            pods[domain] += shape.figures.at(judgement.level) or 0
    return pods


def rack_counts(
    fleet: Fleet, racks: Iterable[PoolRacks], recommended: Mapping[str, int]
) -> dict[str, int]:
    """Return the node counts, with whole racks in pools with ComputeDomains if limits allow it."""
    counts = dict(recommended)
    for each in racks:
        wanted = _wanted(each, counts[each.pool])
        if wanted <= _room(fleet, each.pool, counts):
            counts[each.pool] = wanted
    return counts


def counts_in_racks(
    judgement: Judgement, fleet: Fleet, counts: Mapping[str, int]
) -> dict[str, int]:
    """Return the node counts, with whole racks in pools with ComputeDomains, even beyond limits."""
    racks = find_racks(judgement, fleet)
    return {**counts, **{each.pool: _wanted(each, counts[each.pool]) for each in racks}}


def find_rack_faults(
    fleet: Fleet, racks: Sequence[PoolRacks], recommended: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Yield domains that fit no rack, pools without capacity for whole racks, and additional nodes
    because of racks.
    """
    where: dict[str, list[str]] = defaultdict(list)
    for each in racks:
        for domain in each.domains:
            where[domain].append(each.pool)
        yield from _of_pool(fleet, each, recommended)
    for domain, pools in sorted(where.items()):
        if len(pools) > 1:
            yield Diagnostic(
                severity="warning",
                code="domain-in-several-pools",
                message=f"ComputeDomain {domain}: its pods are placed in pools "
                f"{listed(pools)}, but these pools don't share a rack",
                fix="set the same pulumi-dra/pool label in the nodeSelector of all these pods",
            )


def _of_pool(
    fleet: Fleet, racks: PoolRacks, recommended: Mapping[str, int]
) -> Iterator[Diagnostic]:
    pool, size = fleet.pool(racks.pool), racks.size
    if size is None:
        wide = sorted(domain for domain, nodes in racks.domains.items() if nodes > 1)
        if wide:
            yield Diagnostic(
                severity="warning",
                code="domain-without-nvlink",
                message=f"ComputeDomain {wide[0]}: machine type {racks.machine} in pool "
                f"\"{pool.name}\" isn't known to support multi-node NVLink, so the domain's pods "
                "might not be able to share memory across nodes",
                fix="use a machine type with multi-node NVLink, for example GB200",
            )
        return
    for domain, nodes in sorted(racks.domains.items()):
        if nodes > size:
            yield Diagnostic(
                severity="error",
                code="domain-exceeds-rack",
                message=f'ComputeDomain {domain} needs {nodes} nodes in pool "{pool.name}", but '
                f"one rack of {racks.machine} has only {size}, and NVLink doesn't connect "
                "racks",
                fix=f"limit each ComputeDomain to {size} nodes, and create one ComputeDomain "
                "per rack",
            )
    if any(nodes > size for nodes in racks.domains.values()):
        return
    needed = recommended[pool.name]
    wanted, room = _wanted(racks, needed), _room(fleet, pool.name, recommended)
    whole = f"{counted(wanted // size, 'rack')} of {size} nodes"
    reason = (
        f'pool "{pool.name}": to place {counted(len(racks.domains), "ComputeDomain")} in '
        "one rack each, the pool needs "
    )
    if wanted > room:
        proved = "" if racks.is_least else " in the best packing found"
        limit = (
            f"at most {pool.count.max}"
            if room >= pool.count.max
            else f"only {room} within its limits"
        )
        yield Diagnostic(
            severity="error",
            code="racks-exceed-maximum",
            message=f"{reason}{whole}{proved} ({wanted} nodes), but it has {limit}",
            fix=f'set the maximum of pool "{pool.name}" to {wanted}',
        )
    elif wanted > needed:
        yield Diagnostic(
            severity="note",
            code="count-in-whole-racks",
            message=f"{reason}{whole}. {needed} nodes have capacity for their pods, but Pulumi "
            f"creates {wanted}. A queue must place the pods of each ComputeDomain in one rack "
            f"(topology {CLIQUE})",
        )


def _in_racks(fleet: Fleet, name: str, domains: Mapping[str, int]) -> PoolRacks:
    pool = fleet.pool(name)
    size = fleet.machine(pool.machine).nvlink_nodes
    if size is not None and pool.bought_nodes is not None:
        size = min(size, pool.bought_nodes)  # clouds also sell half a rack
    racks, is_least = (
        fewest_racks([min(nodes, size) for nodes in domains.values()], size) if size else (0, True)
    )
    return PoolRacks(
        pool=name,
        machine=pool.machine,
        size=size,
        domains=dict(domains),
        racks=racks,
        is_least=is_least,
    )


def _wanted(racks: PoolRacks, nodes: int) -> int:
    if not racks.size or any(taken > racks.size for taken in racks.domains.values()):
        return nodes
    return max(racks.nodes, nodes + -nodes % racks.size)


def _room(fleet: Fleet, pool: str, counts: Mapping[str, int]) -> int:
    left = nodes_left(fleet.limits, counts).get(pool)
    most = fleet.pool(pool).count.max
    return most if left is None else min(most, counts[pool] + left)


def fewest_racks(domains: Sequence[int], size: int) -> tuple[int, bool]:
    """Return the number of racks of this size that hold the domains, and whether it's proven
    minimal. No domain is larger than a rack. The search places the largest domain first, and
    then tries all other ways for up to `MOST_SEARCHED` domains, within `MOST_STEPS`.
    """
    ordered = sorted(domains, reverse=True)
    least = max(
        -(-sum(ordered) // size),
        *(_racks_of_large(ordered, size, each) for each in range(1, size + 1)),
    )
    best = _first_fit(ordered, size)
    steps = MOST_STEPS if len(ordered) <= MOST_SEARCHED else 0
    while best > least and steps > 0:
        found, steps = _fit_into(ordered, [size] * (best - 1), steps)
        if not found:
            break
        best -= 1
    return best, best == least or steps > 0


def _racks_of_large(domains: Sequence[int], size: int, each: int) -> int:
    """Return the racks of domains so large that a rack holds at most `each` of them."""
    return -(-sum(nodes * (each + 1) > size for nodes in domains) // each)


def _first_fit(domains: Sequence[int], size: int) -> int:
    free: list[int] = []
    for nodes in domains:
        at = next((at for at, left in enumerate(free) if left >= nodes), None)
        if at is None:
            free.append(size - nodes)
        else:
            free[at] -= nodes
    return len(free)


def _fit_into(domains: Sequence[int], free: list[int], steps: int) -> tuple[bool, int]:
    """Return whether the domains fit racks with this free capacity, and the remaining steps."""
    if not domains:
        return True, steps
    first, *others = domains
    for left in sorted({left for left in free if left >= first}):
        if steps <= 0:
            return False, 0
        rest = list(free)
        rest[rest.index(left)] -= first
        found, steps = _fit_into(others, rest, steps - 1)
        if found:
            return True, steps
    return False, steps
