"""Labels that a cloud adds to the nodes of a declared pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.clouds import NodeOrigin, cloud
from dra_policies.unknown_values import UNKNOWN
from dra_policies.view.pool_machines import is_spot, known_machine
from dra_policies.view.stack_view import DeclaredPool

_ARCHITECTURES: Final = ("kubernetes.io/arch", "beta.kubernetes.io/arch")


def labels_of_cloud(pool: DeclaredPool) -> Mapping[str, object]:
    """Return the labels that the cloud derives from a pool's machine type, capacity, and name.

    The value is None if the nodes certainly don't have the label, and `UNKNOWN` if they might.
    """
    machine, spot = known_machine(pool.cloud, pool.machine), is_spot(pool)
    if machine is None:
        return {}
    labels: dict[str, object] = dict.fromkeys(_ARCHITECTURES, machine.arch)
    of_cloud = cloud(pool.cloud)
    name = pool.own.text("agentPoolName") or pool.own.text("name") or ""
    plain = NodeOrigin(name=name, machine=machine)
    usual = of_cloud.added_labels(plain)
    on_spot = of_cloud.added_labels(replace(plain, capacity="spot"))
    key, value = of_cloud.system_mode
    is_system = bool(key) and pool.own.text(key) == value
    if spot is None or is_system or pool.own.has("spec.template") or _is_bought(pool):
        return labels | dict.fromkeys((*usual, *on_spot), UNKNOWN)
    ours = on_spot if spot else usual
    # without a name in the program, the value of a label with the name isn't known
    return labels | {
        key: ours.get(key) if ours.get(key) != "" else UNKNOWN for key in (*usual, *on_spot)
    }


def _is_bought(pool: DeclaredPool) -> bool:
    """Return whether a pool can use bought machines, which have other labels than its capacity."""
    bought = cloud(pool.cloud).pool.bought
    return bool(pool.made_from) or any(
        pool.own.text(path) in (value, None) if value else pool.own.has(path) is not False
        for path, value in (bought.marks if bought else ())
    )
