"""Labels that a cloud adds to the nodes of a declared pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.clouds import NodeOrigin, cloud
from dra_policies.view.pool_machines import is_spot, known_machine
from dra_policies.view.stack_view import DeclaredPool

_ARCHITECTURES: Final = ("kubernetes.io/arch", "beta.kubernetes.io/arch")


def labels_of_cloud(pool: DeclaredPool) -> Mapping[str, str | None]:
    """Return the labels that a pool's nodes certainly have (with a value), or certainly don't have
    (None), because of its machine type and capacity.
    """
    machine, spot = known_machine(pool.cloud, pool.machine), is_spot(pool)
    if machine is None:
        return {}
    labels: dict[str, str | None] = dict.fromkeys(_ARCHITECTURES, machine.arch)
    of_cloud = cloud(pool.cloud)
    key, value = of_cloud.system_mode
    is_system = bool(key) and pool.own.text(key) == value
    if spot is None or is_system or pool.own.has("spec.template") or _is_bought(pool):
        return labels
    plain = NodeOrigin(name="", machine=machine)
    usual = of_cloud.added_labels(plain)
    on_spot = of_cloud.added_labels(replace(plain, capacity="spot"))
    ours = on_spot if spot else usual
    # the pool's name is a part of these labels, and isn't known here
    named = {key for key, value in usual.items() if not value}
    return labels | {key: ours.get(key) for key in (*usual, *on_spot) if key not in named}


def _is_bought(pool: DeclaredPool) -> bool:
    """Return whether a pool can use bought machines, which have other labels than its capacity."""
    bought = cloud(pool.cloud).pool.bought
    return bool(pool.made_from) or any(
        pool.own.text(path) in (value, None) if value else pool.own.has(path) is not False
        for path, value in (bought.marks if bought else ())
    )
