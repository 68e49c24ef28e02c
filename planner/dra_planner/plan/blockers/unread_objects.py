"""Objects that the plan can't read although they might create pods with devices."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


def find_unread_objects(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each object whose possible pods aren't in the plan."""
    for each in situation.manifests.unread:
        yield Blocker(
            code="object-not-read",
            message=f"{each.title}: {each.reason}, so {each.missing} aren't in the plan",
            fix=each.instead,
            place=each.place,
            verdict="cannot-tell",
        )
