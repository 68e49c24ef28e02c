"""Changes of pods, and added pools, with which each shape of a plan fits some pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from dra_planner.allocation import Edit
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import distance
from dra_planner.model import Demand, Shape, best
from dra_planner.plan.explanation.claims import smallest_edits
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.suggestion.changed_fleet import ChangedFleet
from dra_planner.plan.suggestion.joint_changes import KEEPING, selected_zone, undecided_pools
from dra_planner.plan.suggestion.missing.missing_pools import fleet_changes
from dra_planner.plan.suggestion.missing.tried_fleets import FleetChange, trials_of


class PodChanges:
    """Changes the shapes one after another.

    `steps` are the sentences of the changes so far, and `fleet` is the fleet with the pools and
    zones that the shapes need.
    """

    def __init__(self, judgement: Judgement, fleet: ChangedFleet) -> None:
        self._judgement = judgement
        self.fleet = fleet
        self.steps: dict[str, None] = {}

    def changed_demand(self) -> Demand | None:
        """Return the demand with the changes, or None if a shape doesn't fit any pool with any of
        the changes.
        """
        demand = self._judgement.demand
        changed = [(shape, self._changed(shape)) for shape in demand.shapes]
        if all(after is before for before, after in changed):
            return demand
        shapes = tuple(after for _, after in changed if after is not None)
        return replace(demand, shapes=shapes) if len(shapes) == len(changed) else None

    def _changed(self, shape: Shape) -> Shape | None:
        """Return the shape with the changes that make it fit some pool, or None."""
        answers = self._judgement.answers(shape)
        verdict = best(answer.verdict for answer in answers) if answers else "fits"
        if verdict == "fits" or shape.per_node:
            return shape
        if verdict == "cannot-tell":
            return self._in_zone(shape)
        edits = fewest_edits(self._judgement, shape, keeping=True)
        if not edits:
            change = self._nearest_change(shape) or self._pool_in_another_zone(shape)
            if change is not None:
                return self._with_change(shape, change)
            edits = fewest_edits(self._judgement, shape)
            kept = tuple(filter(_keeps_amounts, edits))
            let_in = apply_edits(kept, shape) if kept else shape
            change = self._nearest_change(let_in) if kept else None
            if change is not None:
                self._add_steps(shape, kept)
                return self._with_change(let_in, change)
        if not edits:
            return None
        self._add_steps(shape, edits)
        return apply_edits(edits, shape)

    def _pool_in_another_zone(self, shape: Shape) -> FleetChange | None:
        """Return the fleet with a copy of a pool in the zone that the pod selects.

        The copied pool is the first one that fits the pod in this zone. Returns None if no pool
        does.
        """
        zone, trials = selected_zone(shape.pod), trials_of(self._judgement)
        if not zone or trials is None:
            return None
        document = self.fleet.given.document()
        for row in document["pools"]:
            text = f'add a pool like "{row["name"]}" in the zone {zone}'
            copy = {**row, "name": "added", "zones": [zone], "count": {"min": 0, "max": 1}}
            changed = {**document, "pools": [*document["pools"], copy]}
            found = trials.change(shape, changed, "added", text)
            if found is not None:
                return found.change
        return None

    def _in_zone(self, shape: Shape) -> Shape | None:
        """Return the shape if a pool fits it in the zone that it selects, and set that zone."""
        zone, answers = selected_zone(shape.pod), self._judgement.answers(shape)
        for name in undecided_pools(answers) if zone else ():
            if self.fleet.zones.get(name, zone) == zone:
                self.fleet = replace(self.fleet, zones={**self.fleet.zones, name: zone})
                self.steps[f'set zones of pool "{name}" to [{zone}]'] = None
                return shape
        return None

    def _nearest_change(self, shape: Shape) -> FleetChange | None:
        """Return the nearest fleet change for a pod, with its pools' architecture if it can choose
        one.
        """
        changes = fleet_changes(self._judgement, shape)
        return min(changes, key=self._is_other_arch, default=None)

    def _is_other_arch(self, change: FleetChange) -> bool:
        """Return whether a change adds machine types with another architecture, which need
        different container images.
        """
        given = self.fleet.given
        known = {given.machine(pool.machine).arch for pool in given.pools}
        return any(
            change.fleet.machine(each.machine).arch not in known for each in change.fleet.pools
        )

    def _with_change(self, shape: Shape, change: FleetChange) -> Shape | None:
        """Return the shape that fits the changed fleet, or None if the change contradicts earlier
        changes.
        """
        if change.text:  # the fleet changes, not only the claims
            changed = self.fleet.with_change(change.text, change.fleet)
            if changed is None:
                return None
            if change.text not in changed.added:  # a step with a number of nodes adds a pool
                self.steps[change.text] = None
            self.fleet = changed
        self._add_steps(shape, change.edits)
        return apply_edits(change.edits, shape) if change.edits else shape

    def _add_steps(self, shape: Shape, edits: tuple[Edit, ...]) -> None:
        self.steps |= dict.fromkeys(edit_steps(shape, edits))


def fewest_edits(judgement: Judgement, shape: Shape, *, keeping: bool = False) -> tuple[Edit, ...]:
    """Return the fewest changes with which the pod fits a pool.

    With `keeping`, the pod still gets the amounts that it requests.
    """
    found = (smallest_edits(answer, judgement) for answer in judgement.answers(shape))
    kept = (
        edits
        for edits in found
        if edits and all(each.kind != "add-node" for each in edits)
        if not keeping or all(map(_keeps_amounts, edits))
    )
    return min(kept, key=distance, default=())


def _keeps_amounts(edit: Edit) -> bool:
    return edit.kind in KEEPING and not edit.is_conditional


def edit_steps(shape: Shape, edits: Iterable[Edit]) -> Iterator[str]:
    """Yield the sentence of each change for the workloads of a shape."""
    names = ", ".join(dict.fromkeys(str(member.workload) for member in shape.members))
    return (f"{names}: {each.text}" for each in edits)
