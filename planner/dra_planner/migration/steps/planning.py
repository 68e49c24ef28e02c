"""Plan every step: the number of nodes in each pool, and whether every pod has a node at each
moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import Result
from dra_planner.migration.steps import commands
from dra_planner.migration.steps.counts import (
    Counts,
    PoolSizing,
    with_counts,
    with_maximums,
    without_plugin,
)
from dra_planner.migration.steps.notes import notes_before_the_start
from dra_planner.migration.steps.plan_results import most_pending, reasons_of
from dra_planner.migration.steps.states import (
    as_source,
    first_moment,
    in_groups,
    movable_workloads,
    objects_of,
    old_copies,
    served_workloads,
    sources_of,
    state_of,
    without_quotas,
)
from dra_planner.migration.steps.step import MigrationStep, MigrationSteps, StepKind, StepPool
from dra_planner.migration.steps.twin_pools import add_twins
from dra_planner.migration.target_cluster import Target, facts_of_fleet, target_of_fleet
from dra_planner.sizing import hourly_usd
from dra_planner.sources import Source
from dra_planner.wording import counted

MOST_MOVES: Final = 12
"""The maximum number of steps in which workloads move. If there are more workloads, multiple
workloads share a step.
"""


def plan_steps(
    sources: Sequence[Source],
    fleet: Fleet,
    *,
    facts: PluginFacts | None = None,
    keep: frozenset[str] = frozenset(),
    kubernetes: str = "",
    most_moves: int = MOST_MOVES,
) -> MigrationSteps:
    """Return the steps from the fleet's device-plugin pools to DRA pools.

    Raises PlannerError for invalid input, and FleetError if workloads move but the fleet doesn't
    have their old pools. A step is safe if the plan fits with both the old and the new pods of the
    moving workloads on the step's nodes, and again when the step is done.
    """
    twins = add_twins(fleet)
    target = target_of_fleet(twins.fleet, kubernetes, keep)
    facts = facts_of_fleet(fleet) if facts is None else facts
    everything = migrate(sources, target, facts)
    movable = movable_workloads(everything)
    if movable and all(pool.is_dra for pool in fleet.pools):
        raise FleetError(
            "the migration starts with device-plugin pools, but all pools in this fleet are "
            "DRA pools",
            fix="add the current pools to the fleet with `allocation: device-plugin`, and "
            "set `devicePlugin` to the device plugin version in the cluster",
        )
    kinds = {
        each.workload: each.object.partition(" ")[0]
        for each in everything.templates
        if each.workload
    }
    planner = _Planner(
        sources=tuple(sources),
        target=target,
        facts=facts,
        kinds=kinds,
        movable=movable,
        served=served_workloads(everything),
        sizing=PoolSizing(twins.fleet, frozenset(kinds), kubernetes),
        needs_plugin=any(
            each.result in (Result.KEPT, Result.CANNOT) for each in everything.templates
        ),
    )
    return MigrationSteps(
        migration=everything,
        steps=tuple(planner.steps(in_groups(movable, most_moves))),
        twins=twins.by_pool,
        without_twin=twins.missing,
        notes=(
            *notes_before_the_start(twins.fleet, target, everything, objects_of(sources)),
            *planner.count_notes(),
        ),
    )


class _Planner(Struct, frozen=True, kw_only=True):
    """Plans the steps of one migration. `kinds` are the kinds of all workloads with devices.

    `served` are the workloads that DeviceClasses serve without a change, with these classes.
    `needs_plugin` means that some pods stay on the device plugin, so it isn't deleted.
    """

    sources: tuple[Source, ...]
    target: Target
    facts: PluginFacts
    kinds: Mapping[str, str]
    movable: tuple[str, ...]
    served: Mapping[str, Mapping[str, str]]
    sizing: PoolSizing
    needs_plugin: bool

    def steps(self, groups: Sequence[tuple[str, ...]]) -> Iterator[MigrationStep]:
        """Yield the steps in order, or none without a device-plugin pool and workloads to move."""
        if not groups and not self.served and all(pool.is_dra for pool in self.sizing.fleet.pools):
            return
        state = self._state(())
        old = self.sizing.plugin_counts(state, (), {})
        counts = {**self.sizing.dra_counts(state, (), {}), **old}
        yield (step := self._step(_Task(1, "prepare", StepKind.PREPARE), state, counts))
        moved: tuple[str, ...] = ()
        for group in groups:
            before, moved = state, (*moved, *group)
            state = self._state(moved)
            step = self._move(step, group, before, state, moved)
            yield step
        if self.served:
            moved = (*moved, *self.served)
            yield (step := self._serve(step, state, moved))
        if step.number > 1:
            yield from self._last(step, state, moved)

    def count_notes(self) -> Iterator[str]:
        """Yield the reasons why a device-plugin pool is counted with its maximum."""
        doubtful = self.sizing.doubtful_plugin_pools(self._state(()))
        for pool in (each for each in self.sizing.fleet.pools if each.name in doubtful):
            yield (
                f"Pool {pool.name} counts as {counted(pool.count.max, 'node')}, its maximum, "
                "because the plan can't tell how many nodes its pods need. In the fleet, set "
                "its count to the current number of nodes in the pool"
            )

    def _move(
        self,
        last: MigrationStep,
        group: tuple[str, ...],
        before: tuple[Source, ...],
        state: tuple[Source, ...],
        moved: Collection[str],
    ) -> MigrationStep:
        """Return the step in which a group of workloads gets new manifests."""
        counts = last.counts_after
        task = _Task(
            last.number + 1,
            _move_name(group),
            StepKind.MOVE,
            moves=group,
            before=before,
            together=_together(before, state, group),
            rollout=as_source(
                first_moment(objects_of(before), objects_of(state), group), "rollout.yaml"
            ),
            left=self.sizing.plugin_counts(state, moved, counts),
            counts=counts,
        )
        during = {**counts, **self.sizing.dra_counts(state, moved, counts)}
        step = self._step(task, state, during)
        if not step.is_safe:  # the step might be safe with more DRA nodes
            more = self.sizing.counts_of(task.together, during)
            larger = self._step(task, state, {**during, **more})
            step = larger if larger.is_safe else step
        return step

    def _serve(
        self, last: MigrationStep, state: tuple[Source, ...], moved: Collection[str]
    ) -> MigrationStep:
        """Return the step in which draining nodes moves the pods that a DeviceClass serves."""
        counts = last.counts_after
        task = _Task(
            last.number + 1,
            "move-served",
            StepKind.SERVE,
            moves=tuple(self.served),
            left=self.sizing.plugin_counts(state, moved, counts),
            counts=counts,
        )
        during = {**counts, **self.sizing.dra_counts(state, moved, counts)}
        return self._step(task, state, during)

    def _last(
        self, last: MigrationStep, state: tuple[Source, ...], moved: Collection[str]
    ) -> Iterator[MigrationStep]:
        """Yield the step that reduces the DRA pools to the nodes that the moved workloads need, and
        deletes the device plugin once its pools are empty.
        """
        counts = last.counts_after
        needed = self.sizing.dra_counts(state, moved, {})
        least = {name: min(count, counts[name]) for name, count in needed.items()}
        plugin_counts = [counts[pool.name] for pool in last.pools if pool.allocation != "dra"]
        if not self.needs_plugin and not any(plugin_counts):
            task = _Task(last.number + 1, "finish", StepKind.FINISH, left=least, counts=counts)
            step = self._step(task, state, counts)
            yield step if step.is_safe else self._step(replace(task, left={}), state, counts)
        elif any(counts[name] > count for name, count in least.items()):
            step = self._step(
                _Task(last.number + 1, "shrink", StepKind.SHRINK, left=least, counts=counts),
                state,
                counts,
            )
            if step.is_safe:
                yield step

    def _state(self, moved: Collection[str]) -> tuple[Source, ...]:
        return sources_of(state_of(self.sources, self.target, self.facts, self.movable, moved))

    def _step(self, task: _Task, state: tuple[Source, ...], during: Counts) -> MigrationStep:
        """Return a step with the proof that no pods stay pending during the step and after it."""
        pools = self.sizing.fleet.pools
        after = {**during, **task.left}
        together = task.together or state
        fleet = with_counts(self.sizing.fleet, during)
        fleet_after = with_counts(self.sizing.fleet, after)
        if task.kind is StepKind.FINISH:
            fleet_after = without_plugin(self.sizing.fleet, after)
        plans = [self.sizing.plan(together, fleet)]
        plans += [] if fleet_after == fleet else [self.sizing.plan(state, fleet_after)]
        if task.rollout is not None and task.rollout.text:
            plans.append(self.sizing.plan((task.rollout,), fleet))
        has_new_nodes = any(
            pool.is_dra and during[pool.name] > task.counts.get(pool.name, 0) for pool in pools
        )
        step = MigrationStep(
            number=task.number,
            name=task.name,
            kind=task.kind,
            pools=tuple(
                StepPool(
                    name=pool.name,
                    allocation=pool.allocation,
                    during=during[pool.name],
                    after=after[pool.name],
                )
                for pool in pools
            ),
            fleet=with_maximums(fleet, self.sizing.fleet),
            fleet_after=with_maximums(fleet_after, self.sizing.fleet),
            sources=state,
            before=task.before,
            together=together,
            pending=most_pending(plans),
            reasons=reasons_of(plans),
            moves=tuple(f"{self.kinds[each]} {each}" for each in task.moves),
            served={
                resource: name
                for each in task.moves
                for resource, name in self.served.get(each, {}).items()
            },
            hourly_usd=hourly_usd(during, plans[0].offers),
            hourly_usd_after=hourly_usd(after, plans[0].offers),
        )
        return replace(
            step,
            commands=commands.step_commands(step),
            checks=commands.step_checks(step, has_new_nodes=has_new_nodes),
            rollback=commands.step_rollback(step),
        )


class _Task(Struct, frozen=True):
    """One step before it is planned.

    `moves` are its workloads. `before` are the manifests before the step, `together` are the
    manifests with both versions, and `rollout` are the manifests at the moment of the rollout at
    which quotas matter. `left` are the counts of pools that are smaller after the step, and
    `counts` are the counts before it.
    """

    number: int
    name: str
    kind: StepKind
    moves: tuple[str, ...] = ()
    before: tuple[Source, ...] = ()
    together: tuple[Source, ...] = ()
    rollout: Source | None = None
    left: Counts = {}
    counts: Counts = {}


def _together(
    before: Sequence[Source], after: Sequence[Source], group: Collection[str]
) -> tuple[Source, ...]:
    """Return the manifests after a move, with the moved workloads in both versions."""
    old = old_copies(objects_of(before), group)
    return (as_source([*without_quotas(objects_of(after)), *old], "together.yaml"),)


def _move_name(group: Sequence[str]) -> str:
    return (
        f"move-{group[0].rpartition('/')[2]}" if len(group) == 1 else f"move-{len(group)}-workloads"
    )
