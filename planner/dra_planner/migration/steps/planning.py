"""Plan every step: how many nodes each pool has, and whether every pod has one at each moment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.fleet import Fleet
from dra_planner.fleet.pools import Count, Pool
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import Result
from dra_planner.migration.steps import commands
from dra_planner.migration.steps.notes import notes_before_the_start
from dra_planner.migration.steps.plan_results import most_pending, reasons_of
from dra_planner.migration.steps.states import (
    as_source,
    first_moment,
    in_groups,
    movable_workloads,
    objects_of,
    old_copies,
    sources_of,
    state_of,
    without,
    without_quotas,
)
from dra_planner.migration.steps.step import MigrationStep, MigrationSteps, StepKind, StepPool
from dra_planner.migration.steps.twins import Twins, add_twins
from dra_planner.migration.target import Target, facts_of_fleet, target_of_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sizing import hourly_usd
from dra_planner.sources import Source

MOST_MOVES: Final = 12
"""The largest number of steps in which workloads move; more workloads share steps."""
Counts = Mapping[str, int]


def plan_steps(
    sources: Sequence[Source],
    fleet: Fleet,
    *,
    facts: PluginFacts | None = None,
    keep: frozenset[str] = frozenset(),
    kubernetes: str = "",
    most_moves: int = MOST_MOVES,
) -> MigrationSteps:
    """Return the steps from the fleet's device-plugin pools to DRA pools. Raises PlannerError for
    wrong input.

    A step is safe if the plan fits with the old and the new pods of the moving workloads at once,
    on the step's nodes, and again when it's done.
    """
    twins = add_twins(fleet)
    target = target_of_fleet(twins.fleet, kubernetes, keep)
    facts = facts_of_fleet(fleet) if facts is None else facts
    everything = migrate(sources, target, facts)
    movable = movable_workloads(everything)
    kinds = {
        each.workload: each.object.partition(" ")[0]
        for each in everything.templates
        if each.workload
    }
    stays = any(each.result in (Result.KEPT, Result.CANNOT) for each in everything.templates)
    planner = _Planner(tuple(sources), target, facts, kinds, movable, twins, kubernetes, stays)
    return MigrationSteps(
        migration=everything,
        steps=tuple(planner.steps(in_groups(movable, most_moves))),
        twins=twins.by_pool,
        without_twin=twins.missing,
        notes=notes_before_the_start(twins.fleet, target, everything, objects_of(sources)),
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans the steps of one migration. `kinds` are the kinds of all workloads with devices.

    `needs_plugin`: some pods stay on the device plugin, so it isn't deleted.
    """

    sources: tuple[Source, ...]
    target: Target
    facts: PluginFacts
    kinds: Mapping[str, str]
    movable: tuple[str, ...]
    twins: Twins
    kubernetes: str
    needs_plugin: bool

    def steps(self, groups: Sequence[tuple[str, ...]]) -> Iterable[MigrationStep]:
        """Yield the steps in order."""
        state = self._state(())
        old = self._old_counts(state, (), {})
        counts = {**self._new_counts(state, (), {}), **old}
        yield self._step(1, "prepare", StepKind.PREPARE, state, counts)
        moved: tuple[str, ...] = ()
        for number, group in enumerate(groups, 2):
            before, moved = state, (*moved, *group)
            state = self._state(moved)
            left = self._old_counts(state, moved, old)
            new = self._new_counts(state, moved, counts)
            move = _Move(
                group,
                before,
                self._together(before, state, group),
                as_source(
                    first_moment(objects_of(before), objects_of(state), group), "rollout.yaml"
                ),
                left,
            )
            step = self._step(number, _move_name(group), StepKind.MOVE, state, {**new, **old}, move)
            if not step.is_safe:  # with more DRA nodes, maybe
                more = self._counts_of(move.together, {**new, **old})
                larger = self._step(
                    number, _move_name(group), StepKind.MOVE, state, {**more, **old}, move
                )
                step = larger if larger.is_safe else step
            yield step
            old, counts = left, {pool.name: pool.after for pool in step.pools}
        if groups and not self.needs_plugin and not any(old.values()):
            yield self._step(len(groups) + 2, "finish", StepKind.FINISH, state, counts)

    def _state(self, moved: Collection[str]) -> tuple[Source, ...]:
        return sources_of(state_of(self.sources, self.target, self.facts, self.movable, moved))

    def _together(
        self, before: Sequence[Source], after: Sequence[Source], group: Collection[str]
    ) -> tuple[Source, ...]:
        """Return the manifests after a move with the old versions of the moved workloads beside the
        new ones.
        """
        old = old_copies(objects_of(before), group)
        return (as_source([*without_quotas(objects_of(after)), *old], "together.yaml"),)

    def _old_counts(
        self, state: Sequence[Source], moved: Collection[str], before: Counts
    ) -> dict[str, int]:
        """Return how many nodes the device-plugin pools need for workloads that haven't moved;
        never more than before.

        The nodes of the step before hold them, since they were there with others.
        """
        pools = [pool for pool in self.twins.fleet.pools if not pool.is_dra]
        found = self._sized(without(objects_of(state), moved), pools)
        return {name: min(count, before.get(name, count)) for name, count in found.items()}

    def _new_counts(
        self, state: Sequence[Source], moved: Collection[str], before: Counts
    ) -> dict[str, int]:
        """Return how many nodes the DRA pools need for workloads that have moved; never fewer than
        before.
        """
        pools = [
            pool.model_copy(
                update={
                    "count": Count(min=before.get(pool.name, pool.count.min), max=pool.count.max)
                }
            )
            for pool in self.twins.fleet.pools
            if pool.is_dra
        ]
        return self._sized(without(objects_of(state), self.kinds.keys() - set(moved)), pools)

    def _sized(self, objects: Iterable[KubernetesObject], pools: Sequence[Pool]) -> dict[str, int]:
        if not pools:
            return {}
        fleet = self.twins.fleet.model_copy(update={"pools": list(pools)})
        plan = self._plan((as_source(objects, "part.yaml"),), fleet)
        return {pool.name: pool.nodes.desired for pool in plan.pools}

    def _counts_of(self, sources: tuple[Source, ...], least: Counts) -> dict[str, int]:
        """Return the counts of all pools with those of the device-plugin pools fixed, and no fewer
        DRA nodes.
        """
        pools = [
            pool.model_copy(
                update={
                    "count": Count(
                        min=least[pool.name],
                        max=pool.count.max if pool.is_dra else least[pool.name],
                    )
                }
            )
            for pool in self.twins.fleet.pools
        ]
        plan = self._plan(sources, self.twins.fleet.model_copy(update={"pools": pools}))
        return {pool.name: pool.nodes.desired for pool in plan.pools}

    def _plan(self, sources: tuple[Source, ...], fleet: Fleet) -> Plan:
        return make_plan(
            PlanRequest(sources=sources, fleet=fleet, kubernetes=self.kubernetes, with_fixes=False)
        )

    def _step(
        self,
        number: int,
        name: str,
        kind: StepKind,
        state: tuple[Source, ...],
        during: Counts,
        move: _Move | None = None,
    ) -> MigrationStep:
        """Return a step with the proof that nothing stays pending during it and after it."""
        after = during if move is None else {**during, **move.left}
        together = state if move is None else move.together
        fleet, fleet_after = _fixed(self.twins.fleet, during), _fixed(self.twins.fleet, after)
        if kind is StepKind.FINISH:
            fleet_after = _without_plugin(fleet)
        plans = [self._plan(together, fleet)]
        plans += [] if fleet_after == fleet else [self._plan(state, fleet_after)]
        if move is not None and move.rollout.text:
            plans.append(self._plan((move.rollout,), fleet))
        step = MigrationStep(
            number=number,
            name=name,
            kind=kind,
            pools=tuple(
                StepPool(
                    name=pool.name,
                    allocation=pool.allocation,
                    during=during[pool.name],
                    after=after[pool.name],
                )
                for pool in self.twins.fleet.pools
            ),
            fleet=fleet,
            fleet_after=fleet_after,
            sources=state,
            before=() if move is None else move.before,
            together=together,
            pending=most_pending(plans),
            reasons=reasons_of(plans),
            moves=()
            if move is None
            else tuple(f"{self.kinds[each]} {each}" for each in move.group),
            hourly_usd=hourly_usd(during, plans[0].offers),
            hourly_usd_after=hourly_usd(after, plans[0].offers),
        )
        return replace(
            step,
            commands=commands.step_commands(step),
            checks=commands.step_checks(step),
            rollback=commands.step_rollback(step),
        )


@dataclass(frozen=True, slots=True)
class _Move:
    """Workloads that move, the manifests before it, with both versions, and at the moment of the
    rollout at which quotas decide (empty if none does), and the old pools' nodes after it.
    """

    group: tuple[str, ...]
    before: tuple[Source, ...]
    together: tuple[Source, ...]
    rollout: Source
    left: Counts


def _move_name(group: Sequence[str]) -> str:
    return (
        f"move-{group[0].rpartition('/')[2]}" if len(group) == 1 else f"move-{len(group)}-workloads"
    )


def _fixed(fleet: Fleet, counts: Counts) -> Fleet:
    """Return the fleet with these pools at these counts."""
    pools = [
        pool.model_copy(update={"count": Count(min=counts[pool.name], max=counts[pool.name])})
        if pool.name in counts
        else pool
        for pool in fleet.pools
    ]
    return fleet.model_copy(update={"pools": pools})


def _without_plugin(fleet: Fleet) -> Fleet:
    """Return the fleet with its DRA pools only."""
    pools = [pool for pool in fleet.pools if pool.is_dra]
    return fleet.model_copy(update={"pools": pools, "device_plugin": False})
