"""What pods of one kind ask of nodes of one template, and what their amounts make of the score of such nodes."""

from __future__ import annotations

from dra_planner.allocation.node_selectors import term_matches, tolerates
from dra_planner.allocation.place import needs_of
from dra_planner.model import Node, PodSpec
from dra_planner.simulation.kinds import PodKind
from dra_planner.simulation.profile import Profile
from dra_planner.simulation.scores import Pair, balance_score, evenness, fit_score
from dra_planner.simulation.stages import Load, Stage


class Wishes:
    """The wishes of a kind on nodes of the template of a stage; `taints` and `preferred_nodes` are raw scores."""

    __slots__ = (
        "_allocatable", "_by_change", "_profile", "_requested", "_requests", "_scored", "preferred_nodes",
        "taints",
    )  # fmt: skip

    def __init__(self, kind: PodKind, stage: Stage, profile: Profile) -> None:
        assert kind.shape is not None  # pods that were there before are placed by nobody
        node, template = stage.node, stage.state.template
        self.taints = _unwelcome_taints(kind.spec, node)
        self.preferred_nodes = _preference(kind.spec, node)
        self._allocatable: Pair = node.allocatable.get("cpu", 0), node.allocatable.get("memory", 0)
        self._by_change = template.features.scores_balance_change
        self._scored = kind.scored
        self._requested = None if kind.is_best_effort else kind.requested
        self._profile = profile
        self._requests = tuple(needs_of(kind.shape, template).requests.items())

    def score(self, load: Load) -> int:
        """Return the score that a node gets for its amounts, whatever others there are, and keep it with the load.

        Below 0: what is left does not suffice, as `reject_for_now` has it.
        """
        found = load.scores[self] = self._score(load)
        return found

    def _score(self, load: Load) -> int:
        profile, have, free = self._profile, self._allocatable, load.free
        for name, amount in self._requests:
            if amount > free.get(name, 0):
                return -1
        cpu, memory = load.scored
        more_cpu, more_memory = self._scored
        total = profile.fit * fit_score((cpu + more_cpu, memory + more_memory), have, profile)
        if self._requested is None:
            return total
        cpu, memory = load.used
        more_cpu, more_memory = self._requested
        after = evenness((cpu + more_cpu, memory + more_memory), have)
        return total + profile.balance * balance_score(load.evenness if self._by_change else None, after)


def _unwelcome_taints(spec: PodSpec, node: Node) -> int:
    """Count the PreferNoSchedule taints that no toleration for that effect (or for every effect) covers."""
    tolerations = [each for each in spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(each, taint) for each in tolerations)
        for taint in node.taints
    )


def _preference(spec: PodSpec, node: Node) -> int:
    return sum(each.weight for each in spec.preferred_nodes if term_matches(each.term, node))
