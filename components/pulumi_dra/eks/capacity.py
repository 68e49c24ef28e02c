"""How an EKS pool gets its machines: the node group's capacity type and where the machine type is named."""

from dra_planner.clouds.eks import CAPACITY_TYPES

KINDS = tuple(CAPACITY_TYPES)


def capacity_type(capacity: str) -> str:
    """Return the node group's capacity type; a reservation is on-demand capacity paid beforehand."""
    return CAPACITY_TYPES[capacity]


def is_bought(capacity: str) -> bool:
    """Whether the machines were bought beforehand, so that a second set beside the first cannot be had."""
    return capacity in ("reservation", "capacity-block")


def machine_in_template(capacity: str) -> bool:
    """Whether the launch template names the machine type; for Capacity Blocks EKS does not take it elsewhere."""
    return capacity == "capacity-block"


def check_capacity(capacity: str, has_reservation_id: bool) -> str:
    """Return what is wrong with a capacity and its reservation, or ""."""
    if is_bought(capacity) and not has_reservation_id:
        return f'is missing: capacity "{capacity}" needs the id of what was bought (cr-…)'
    if has_reservation_id and not is_bought(capacity):
        return f'is for capacity "reservation" or "capacity-block", not "{capacity}"'
    return ""
