"""Find a minimal set of edits with which a pod fits: the whole set is sufficient, but no subset
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.place import place
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import PREFERENCE, Edit, way_of
from dra_planner.allocation.reasons.possible_edits import count_text, possible_edits
from dra_planner.allocation.verdicts import Placement, Refusal, Undecided
from dra_planner.model import Shape

# these edits exclude other edits of the same request
_REWRITING = ("use-class", "guard-class", "correct-class", "constrain-pairs")
_STEPS = 20_000
"""Steps of one allocation with edits: a tenth of a plan's steps, because a fix needs up to hundreds
of allocations. An edit whose allocation ends at this limit isn't suggested.
"""
_CLASS_CHOICES = 200
"""Maximum number of combinations of other classes for the requests. This includes all combinations
for claims with up to three requests.
"""
_PAIRS = 60
"""Maximum number of pairs of edits to try before searching larger sets."""


def suggest_edits(
    refusal: Refusal, fresh: NodeState | None = None, pools: Mapping[str, NodeState] | None = None
) -> tuple[Edit, ...]:
    """Return a minimal set of edits with which the pod fits, the smallest found, or an empty set if
    nothing helps.

    `fresh` is a node of the same kind without pods of the demand. If it's given, "one more node" is
    a possible edit. So is moving to one of the other `pools`, by name.
    """
    best = _suggest_here(refusal, fresh)
    for name, node in (pools or {}).items():
        if best and len(best) == 1:
            break
        move = Edit("other-pool", f"allow the pod to run in pool {name}", name=name)
        verdict = place(refusal.shape, node, budget=_STEPS)
        more = _suggest_here(verdict, None) if isinstance(verdict, Refusal) else ()
        if (more or isinstance(verdict, Placement)) and (not best or len(more) + 1 < len(best)):
            best = (*more, move)
    return best


def _suggest_here(refusal: Refusal, fresh: NodeState | None) -> tuple[Edit, ...]:
    trial = _Trial(refusal.shape, refusal.node, fresh, refusal.kind == "error")
    edits = sorted(
        possible_edits(refusal.shape, refusal.node, fresh), key=lambda e: PREFERENCE.index(e.kind)
    )
    # these edits change the positions to which other edits refer
    in_sets = [edit for edit in edits if edit.kind not in ("constrain-pairs", "split-claim")]
    few = [(edit,) for edit in edits] + list(combinations(in_sets, 2))[:_PAIRS]
    chosen: tuple[Edit, ...] = next((part for part in few if trial.fits(part)), ())
    if not chosen:
        whole = next((each for each in _large_sets(in_sets) if trial.fits(each)), ())
        if not whole:
            return ()
        chosen = _shrink(whole, trial)
    for position in range(len(chosen)):
        bolder = trial.tighten(chosen, position)
        chosen = (*chosen[:position], bolder, *chosen[position + 1 :])
    return chosen


def _large_sets(edits: Sequence[Edit]) -> Iterator[Sequence[Edit]]:
    """Yield large sets of edits that don't exclude each other.

    A request can use one other class, or keep its own. The first sets use the same class for all
    requests that change their class. All other combinations follow.
    """
    rest = [e for e in edits if e.kind not in _REWRITING]
    choices: dict[tuple[int, int, int], list[Edit]] = {}
    for edit in edits:
        if edit.kind == "use-class":
            choices.setdefault((edit.claim, edit.request, edit.way), []).append(edit)
    yield rest
    for name in sorted({e.name for each in choices.values() for e in each}):
        yield [*rest, *(e for each in choices.values() for e in each if e.name == name)]
    for chosen in islice(product(*([None, *each] for each in choices.values())), _CLASS_CHOICES):
        yield [*rest, *(e for e in chosen if e is not None)]


def _shrink(edits: Sequence[Edit], trial: _Trial) -> tuple[Edit, ...]:
    """Remove edits while the others suffice.

    Then check whether a subset of the remaining edits suffices.
    """
    kept = list(edits)
    for edit in reversed(edits):
        rest = [e for e in kept if e is not edit]
        if trial.fits(rest):
            kept = rest
    parts = (part for size in range(1, len(kept) + 1) for part in combinations(kept, size))
    return next(part for part in parts if trial.fits(part))


def _keep_intent(edits: Sequence[Edit]) -> bool:
    """Return whether edits only correct values in selectors."""
    return all(edit.kind == "correct-value" for edit in edits)


class _Trial(Struct):
    """Tests edits on one shape and node."""

    shape: Shape
    node: NodeState
    fresh: NodeState | None
    # set if a selector fails with an error, because a correction can then depend on an unknown
    # value
    is_error: bool = False
    known: dict[frozenset[Edit], bool] = {}

    def fits(self, edits: Sequence[Edit]) -> bool:
        key = frozenset(edits)
        if key not in self.known:
            answer = self._place(edits)
            self.known[key] = isinstance(answer, Placement) or (
                self.is_error and isinstance(answer, Undecided) and _keep_intent(edits)
            )
        return self.known[key]

    def _place(self, edits: Sequence[Edit]) -> object:
        more = self.fresh is not None and any(e.kind == "add-node" for e in edits)
        node = self.fresh if more and self.fresh is not None else self.node
        return place(apply_edits(edits, self.shape), node, budget=_STEPS)

    def tighten(self, edits: tuple[Edit, ...], position: int) -> Edit:
        """Return the edit with a count lowered only as far as necessary."""
        edit = edits[position]
        if edit.kind != "lower-count":
            return edit
        requested = way_of(self.shape, edit).count
        for value in range(min(requested - 1, 32), edit.value, -1):
            bolder = replace(edit, value=value, text=count_text(self.shape, edit, requested, value))
            if self.fits((*edits[:position], bolder, *edits[position + 1 :])):
                return bolder
        return edit
