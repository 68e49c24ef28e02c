"""The parts of a plugin. Every part is optional, as in the scheduler's framework.

Filters that check only a single node are in the allocator (`dra_planner.allocation`), because
sizing also needs them. A plugin lists its reasons for rejections in `rejects`, and the reasons that
the removal of pods can resolve. Filters that look at several nodes or at claims are here.

Scores are grouped by the facts on which they depend, because these facts determine how long scores
can be cached:

- `by_load`: the used amounts of a node. The score is final, 0 to 100.
- `by_node`: the properties of a node that never change, such as labels and taints. The score is
  raw, and `normalize` compares the feasible nodes.
- `by_placement`: the devices that the pod would get on the node. The score is raw, and `normalize`
  compares the feasible nodes.
- `by_domain`: the number of pods in the domains to which a node belongs.
- `by_population`: all nodes with their current pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from dra_planner.allocation import Answer, Placement, Refusal
from dra_planner.allocation.node.filters import Filter
from dra_planner.model import Node, ObjectKey
from dra_planner.releases import Features
from dra_planner.simulation.cluster.cluster import SharedClaim
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.pod_requests import PodAmounts
from dra_planner.simulation.cluster.soft_spread_counts import Domains
from dra_planner.simulation.cluster.stages import NodeLoad, NodeStage, Population
from dra_planner.simulation.scheduler.pod_rules import KindSet, Neighbours, PodRules
from dra_planner.simulation.scheduler.profile import Profile

MAX_SCORE = 100

Place = tuple[int | str | None, ...]
"""The place where a node is counted. For each soft constraint, it's the number of pods on the node
(for host constraints) or the value of the node's label, or None without the label.
"""

LabelledPlace = tuple[str | None, KindSet | None]
"""The value of a label, or for host constraints the kinds of pods that are counted on the node
itself.
"""

Reject = Callable[[NodeStage, Answer], Refusal | None]
"""Returns the reason that excludes a pod from a node in this stage, independent of other nodes."""

LoadScore = Callable[[PodAmounts, Node, Features, Profile], Callable[[NodeLoad], int] | None]
"""Returns a function that scores nodes like this one for pods with these amounts, or None if all
scores are 0.
"""


class ClusterView(Struct, frozen=True):
    """The input of filters: the nodes with their pods, and the allocated claims."""

    population: Population
    claims: Mapping[ObjectKey, SharedClaim]


class DomainScore(Protocol):
    """Scores nodes by the pods in their domains."""

    def places(self, rules: PodRules, node: Node) -> tuple[LabelledPlace, ...] | None:
        """Return the places where constraints count pods on a node, or None if the node doesn't
        count.
        """
        ...

    def score(
        self,
        rules: PodRules,
        domains: Sequence[Domains],
        nodes: int,
        places: Sequence[Place | None],
    ) -> list[int]:
        """Return the score in each place of the feasible nodes. `nodes` is the number of feasible
        nodes with a place.
        """
        ...


class PopulationScore(Protocol):
    """Scores nodes by the pods that a pod prefers to run next to."""

    def is_near(self, rules: PodRules) -> bool:
        """Return True if only pods on the same node count."""
        ...

    def count(self, terms: Sequence[Neighbours], stage: NodeStage) -> int:
        """Return the raw score of a node for pods on the node itself."""
        ...

    def normalize(self, raw: Sequence[int]) -> list[int]:
        """Return the scores of the feasible nodes, by their raw scores."""
        ...

    def score(
        self, rules: PodRules, everywhere: Population, feasible: Iterable[NodeStage]
    ) -> list[int]:
        """Return the score of each feasible stage."""
        ...


def shares_of_most(raw: Sequence[int]) -> list[int]:
    """Return raw scores as shares of the largest, 0 to 100 (DefaultNormalizeScore)."""
    most = max(raw, default=0)
    return [MAX_SCORE * each // most for each in raw] if most else list(raw)


def shares_of_least(raw: Sequence[int]) -> list[int]:
    """Return reversed shares: 100 for the lowest raw score."""
    return [MAX_SCORE - share for share in shares_of_most(raw)]


class Plugin(Struct, frozen=True, kw_only=True):
    """A plugin.

    `order` is its position among the default plugins, and `weight` is the weight of its score in
    the default profile. `is_needed` returns True if `filter` can reject nodes for pods with these
    rules. Otherwise, the answer of a node depends only on the node itself. `labels` are node labels
    that the plugin always reads. Snapshot nodes that differ only in other labels and in their names
    count as equal.
    """

    name: str
    order: int
    labels: frozenset[str] = frozenset()
    rejects: frozenset[Filter] = frozenset()
    helped: frozenset[Filter] = frozenset()
    is_needed: Callable[[PodRules], bool] | None = None
    filter: Callable[[PodKind, PodRules, ClusterView], Reject | None] | None = None
    weight: int = 0
    by_load: LoadScore | None = None
    by_node: Callable[[PodKind, Node], int] | None = None
    by_placement: Callable[[Placement], int] | None = None
    normalize: Callable[[Sequence[int]], list[int]] = shares_of_most
    by_domain: DomainScore | None = None
    by_population: PopulationScore | None = None
