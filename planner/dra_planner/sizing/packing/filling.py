"""States of nodes as items are placed on them: amounts by integer arithmetic, and devices by the
allocator's answers.

A node has used amounts and contents (devices, ports, pods that other pods' rules refer to, shared
claims). Most pods change the two independently: the number that fits is a division for the amounts,
and a chain of cached answers for the devices, which all pods with equal claims share. Pods with
ports, shared claims, or anti-affinity are checked one by one, once for each state.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, Refusal, Undecided, reasons_of
from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.allocation.node.pod_rules import PodView
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import needs_of, place
from dra_planner.model import Container, PodSpec, Reason, Shape, ShapeClaim, Toleration
from dra_planner.sizing.items import Item

MOST_ASKED = 1_000
"""Maximum number of items with devices to try on one node. Kubelets run at most 250 pods by
default.
"""

_ANYWHERE = (Toleration(operator="Exists"),)


class FillStop(Struct, frozen=True):
    """The reason why no further item fits a node, and the number of pods placed before."""

    answer: Refusal | Undecided
    shape: Shape
    pods: int = 0

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons, nearest miss first, computed on request."""
        return reasons_of(self.answer)

    @property
    def is_undecided(self) -> bool:
        return isinstance(self.answer, Undecided)

    @property
    def is_error(self) -> bool:
        """Whether the scheduler's attempt fails on such a node, so that the pod fails on every
        node.
        """
        return isinstance(self.answer, Refusal) and self.answer.kind == "error"

    @property
    def is_elsewhere(self) -> bool:
        """True if the pod isn't meant for such nodes, because a DaemonSet doesn't create pods for
        them.
        """
        return self._filter in ("node-name", "taint", "node-selector")

    @property
    def _filter(self) -> str:
        misfit = self.answer.misfit if isinstance(self.answer, Refusal) else None
        return "" if misfit is None else misfit.filter


class ItemUse(Struct, frozen=True):
    """One item's needs on nodes of a kind.

    `amounts` are (position among the kind's resources, amount). `probe` is a pod with only the
    item's claims and the facts that other pods' rules use. `claims` is the probe's number, or 0
    without a probe. Items that aren't `is_plain` are checked one by one.
    """

    amounts: tuple[tuple[int, int], ...] = ()
    claims: int = 0
    probe: Shape | None = None
    is_plain: bool = False


class Held:
    """A node's contents other than amounts.

    Equal contents are the same object. `after` is the next state by the probe's number. `is_plain`
    is set if only the demand's pods (`watching`) avoid others.
    """

    __slots__ = ("after", "is_plain", "state")

    def __init__(self, state: NodeState, watching: Collection[PodView]) -> None:
        self.state = state  # the node without used amounts
        self.is_plain = all(view in watching for view, _ in state.pods if view.anti_affinity)
        self.after: dict[int, Held | Refusal | Undecided] = {}


class NodeKind(Struct, eq=False):
    """Equal nodes: their resources, and their known states."""

    template: Template
    names: tuple[str, ...]
    capacity: tuple[int, ...]
    watching: frozenset[PodView]
    taken: dict[str, ItemUse] = {}  # by item
    # the same states, shared by all kinds with these resources
    claimless: dict[str, ItemUse] = {}
    helds: dict[Hashable, Held] = {}
    stages: dict[tuple[tuple[int, ...], Held], FillStage] = {}


class FillStage:
    """A state of a node of one kind.

    Equal states are the same object, so they are compared by identity.
    """

    __slots__ = ("after", "held", "kind", "used")

    def __init__(self, kind: NodeKind, used: tuple[int, ...], held: Held) -> None:
        self.kind = kind
        self.used = used
        self.held = held
        self.after: dict[str, FillStage | None] = {}

    @property
    def state(self) -> NodeState:
        """The node in the allocator's form."""
        amounts = tuple(
            (name, amount)
            for name, amount in zip(self.kind.names, self.used, strict=True)
            if amount
        )
        return self.held.state.with_used(amounts)

    def on(self, node: NodeState) -> NodeState:
        """Return another node of the kind (with other labels or another name) in this state."""
        return self.state.on_template(node.template)

    def free(self, name: str) -> int:
        """Return the free amount of a resource."""
        kind = self.kind
        return (
            kind.capacity[at] - self.used[at]
            if (at := _position(kind.names, name)) is not None
            else 0
        )


class Filling:
    """Caches the allocator's answers."""

    def __init__(self) -> None:
        self._kinds: dict[Template, NodeKind] = {}
        self._probes: dict[object, int] = {}
        self._claimless: dict[object, dict[str, ItemUse]] = {}

    def open(self, state: NodeState) -> FillStage:
        """Return the stage of a node in this state. Nodes with the same template have the same
        kind.
        """
        kind = self._kinds.get(state.template)
        if kind is None:
            amounts = state.node.allocatable
            names = tuple(sorted({*amounts, *(name for name, _ in state.used)}))
            watching = frozenset(view for view, _ in state.template.sight.watchers)
            capacity = tuple(amounts.get(name, 0) for name in names)
            claimless = self._claimless.setdefault((names, state.template.sight), {})
            kind = NodeKind(state.template, names, capacity, watching, claimless=claimless)
            self._kinds[state.template] = kind
        used = dict(state.used)
        return _stage(kind, tuple(used.get(name, 0) for name in kind.names), _held(kind, state))

    def add(self, item: Item, stage: FillStage) -> FillStage | None:
        """Return the node with one more of the item, or None if it doesn't fit."""
        count, after = self.fill(item, stage, 1)
        return after if count else None

    def fill(self, item: Item, stage: FillStage, limit: int) -> tuple[int, FillStage]:
        """Return how many of the item, at most `limit`, fit the node one after another, and the
        resulting state.
        """
        kind, held = stage.kind, stage.held
        taken = kind.taken.get(item.id) or self.taken(item, kind)
        if not (taken.is_plain and held.is_plain):
            return self._fill_slowly(item, stage, limit)
        used, capacity = stage.used, kind.capacity
        for at, amount in taken.amounts:
            most = (capacity[at] - used[at]) // amount
            if most < limit:
                limit = most
        if limit <= 0:
            return 0, stage
        if taken.probe is not None:
            number = 0
            while number < limit:
                after = held.after.get(taken.claims) or self._hold(kind, held, taken)
                if not isinstance(after, Held) or number == MOST_ASKED:
                    break
                # a pod that doesn't change the state can be placed again
                number = number + 1 if after is not held else limit
                held = after
            if not number:
                return 0, stage
            limit = number
        now = list(used)
        for at, amount in taken.amounts:
            now[at] += limit * amount
        return limit, _stage(kind, tuple(now), held)

    def room_for(self, item: Item, stage: FillStage, limit: int) -> tuple[int, bool]:
        """Return how many of the item, at most `limit`, fit the node, and whether no more fit."""
        kind = stage.kind
        taken = kind.taken.get(item.id) or self.taken(item, kind)
        if taken.is_plain and taken.probe is None and stage.held.is_plain:
            used, capacity, most = stage.used, kind.capacity, limit
            for at, amount in taken.amounts:
                free = (capacity[at] - used[at]) // amount
                if free < most:
                    most = free
            return max(0, most), most < limit
        count, last = self.fill(item, stage, limit)
        return count, count < limit and self.add(item, last) is None

    def refusal(self, item: Item, stage: FillStage) -> Refusal | Undecided | None:
        """Return why the devices of a node don't suffice for one more of a plain item, or None if
        amounts don't suffice.

        The answer is for a pod with only the item's claims.
        """
        taken = self.taken(item, stage.kind)
        answer = stage.held.after.get(taken.claims) if taken.probe is not None else None
        return None if answer is None or isinstance(answer, Held) else answer

    def taken(self, item: Item, kind: NodeKind) -> ItemUse:
        """Return one item's needs on nodes of a kind."""
        found = kind.taken.get(item.id)
        if found is None:
            found = kind.claimless.get(item.id)
            if found is None:
                found = self._taken(item, kind)
                if not any(part.shape.claims for part in item.parts):
                    kind.claimless[item.id] = found
            kind.taken[item.id] = found
        return found

    def _taken(self, item: Item, kind: NodeKind) -> ItemUse:
        shape = item.parts[0].shape
        needs = needs_of(shape, kind.template)
        positions = {name: at for at, name in enumerate(kind.names)}
        is_plain = (
            len(item.parts) == 1
            and item.parts[0].pods == 1
            and not (
                needs.missing_class
                or needs.ports
                or shape.pod.scheduling_gates
                or shape.pod.zonal_volumes
            )
            and not any(claim.shared is not None for claim in needs.claims)
            and all(name in positions for name in needs.requests)
        )
        if not is_plain:
            return ItemUse()
        amounts = tuple(
            (positions[name], amount) for name, amount in needs.requests.items() if amount
        )
        claims = tuple(_nameless(at, claim) for at, claim in enumerate(needs.claims))
        noticed = needs.view if kind.template.sight.notices(needs.view) else None
        if not claims and noticed is None:
            return ItemUse(amounts, is_plain=True)
        seen = () if noticed is None else (noticed, tuple(sorted(noticed.labels.items())))
        number = self._probes.setdefault((claims, seen), len(self._probes) + 1)
        return ItemUse(amounts, number, _probe(number, claims, noticed), is_plain=True)

    def _hold(self, kind: NodeKind, held: Held, taken: ItemUse) -> Held | Refusal | Undecided:
        """Ask the allocator for the devices of one more item."""
        assert taken.probe is not None
        answer = place(taken.probe, held.state)
        after = _held(kind, answer.node) if isinstance(answer, Placement) else answer
        held.after[taken.claims] = after
        return after

    def _fill_slowly(self, item: Item, stage: FillStage, limit: int) -> tuple[int, FillStage]:
        number = 0
        while number < min(limit, MOST_ASKED):
            after = stage.after.get(item.id, stage)
            if after is stage:
                after = stage.after[item.id] = self._place_parts(item, stage)
            if after is None:
                break
            number, stage = number + 1, after
        return number, stage

    def _place_parts(self, item: Item, stage: FillStage) -> FillStage | None:
        state = stage.state
        for part in item.parts:
            shape = _unpinned(part.shape)
            for _ in range(part.pods):
                answer = place(shape, state)
                if not isinstance(answer, Placement):
                    return None
                state = answer.node
        used = dict(state.used)
        kind = stage.kind
        return _stage(kind, tuple(used.get(name, 0) for name in kind.names), _held(kind, state))


def devices_suffice(shape: Shape, node: NodeState) -> bool:
    """Return whether a node's devices suffice for one more pod with a shape's claims, regardless of
    other resources.
    """
    claims = tuple(needs_of(shape, node.template).claims)
    return isinstance(place(_probe(0, claims, None), node), Placement)


def _held(kind: NodeKind, state: NodeState) -> Held:
    key = (state.taken, state.shares, state.ports, state.pods, state.claims)
    found = kind.helds.get(key)
    if found is None:
        found = kind.helds[key] = Held(state.with_used(()), kind.watching)
    return found


def _stage(kind: NodeKind, used: tuple[int, ...], held: Held) -> FillStage:
    key = (used, held)
    found = kind.stages.get(key)
    if found is None:
        found = kind.stages[key] = FillStage(kind, used, held)
    return found


def _position(names: tuple[str, ...], name: str) -> int | None:
    return names.index(name) if name in names else None


def _nameless(position: int, claim: ShapeClaim) -> ShapeClaim:
    """Return the claim without the parts that don't affect which devices it gets."""
    name = claim.name if claim.name == CLAIM_NAME else f"claim-{position}"
    return replace(claim, name=name, spec=replace(claim.spec, config=()))


def _probe(number: int, claims: tuple[ShapeClaim, ...], noticed: PodView | None) -> Shape:
    """Return a pod without requirements other than devices, visible to other pods' rules as
    given.
    """
    avoids = () if noticed is None else noticed.anti_affinity
    return Shape(
        id=f"claims {number}",
        namespace="" if noticed is None else noticed.namespace,
        labels={} if noticed is None else noticed.labels,
        pod=PodSpec(
            containers=(Container(name="main"),), tolerations=_ANYWHERE, pod_anti_affinity=avoids
        ),
        claims=claims,
        members=(),
    )


def _unpinned(shape: Shape) -> Shape:
    """Return the shape without node names, labels, and taints, which are checked by pool."""
    pod = replace(
        shape.pod, node_name="", node_selector={}, node_affinity=None, tolerations=_ANYWHERE
    )
    return replace(shape, id=f"{shape.id} anywhere", pod=pod)
