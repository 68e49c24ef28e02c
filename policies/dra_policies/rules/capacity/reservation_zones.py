"""Pools in zones in which their reservation doesn't have machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_planner.clouds import cloud
from dra_planner.clouds.protocol.resources import BoughtCapacity
from dra_policies.unknown_values import Properties
from dra_policies.view.address_ranges import zones_of_subnets
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView


def zone_faults(
    view: StackView,
    pool: DeclaredPool,
    bought: BoughtCapacity,
    reservations: Sequence[DeclaredResource],
) -> Iterator[tuple[str, str]]:
    """Yield the errors in the zones of a pool that uses reservations, each as a predicate of the
    pool and a fix.
    """
    for each in reservations:
        yield from _outside(view, pool, bought, each)
    if not any(texts_of(each.props, bought.zone) for each in reservations):
        yield from _several(view, pool, bought)


def _outside(
    view: StackView, pool: DeclaredPool, bought: BoughtCapacity, reservation: DeclaredResource
) -> Iterator[tuple[str, str]]:
    of_cloud = cloud(pool.cloud)
    path = of_cloud.pool.zones or of_cloud.pool.zone_list
    zones = (pool.own.texts(path) or ()) if path else zones_of_subnets(view, pool)
    having = texts_of(reservation.props, bought.zone)
    outside = [zone for zone in zones if zone and having and zone not in having]
    if outside and None not in having:
        where = " and ".join(filter(None, having))
        yield (
            f'can place nodes in zone {outside[0]}, but reservation "{reservation.name}" covers '
            f"only {where}, so nodes in {outside[0]} can't use the reservation",
            f"limit the pool to zone {where}",
        )


def _several(
    view: StackView, pool: DeclaredPool, bought: BoughtCapacity
) -> Iterator[tuple[str, str]]:
    """Yield subnets in several zones if the pool's template refers to a single reservation."""
    zones = zones_of_subnets(view, pool)
    if None in zones or len(set(zones)) <= 1 or pool.template is None:
        return
    if bought.template_name and pool.template.has(bought.template_name):
        shown = " and ".join(sorted(filter(None, zones)))
        yield (
            f"can place nodes in several zones ({shown}), but a reservation covers only one zone, so "
            "nodes in the other zones can't use it",
            "use only subnets in the reservation's zone",
        )


def texts_of(properties: Properties, path: str) -> tuple[str | None, ...]:
    """Return the texts of a property that contains a text or a list. Empty if the property is
    unknown.
    """
    text = properties.text(path) if path else ""
    return (text,) if text else (properties.texts(path) or ()) if path else ()
