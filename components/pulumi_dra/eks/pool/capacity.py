"""Capacity of an EKS pool: the node group's capacity type, and where its machine type is set."""

from dra_planner.clouds.eks import CLOUD
from dra_planner.clouds.eks.capacity import CAPACITY_TYPES
from pulumi_dra.eks.boot.node_image import known_machine
from pulumi_dra.inputs.pool_inputs import check_purchase
from pulumi_dra.inputs.reader import InputReader

KINDS = tuple(CAPACITY_TYPES)


def capacity_type(capacity: str) -> str:
    """Return the node group's capacity type. A reservation is prepaid on-demand capacity."""
    return CAPACITY_TYPES[capacity]


def is_bought(capacity: str) -> bool:
    """Return whether the machines were bought in advance, so that a second set isn't available."""
    return capacity in ("reservation", "capacity-block")


def machine_in_template(capacity: str) -> bool:
    """Return whether the launch template names the machine type, as EKS requires for Capacity
    Blocks.
    """
    return capacity == "capacity-block"


def read_capacity(read: InputReader, machine: str) -> str:
    """Return `capacity`, checked for the machine type. See `check_purchase`."""
    capacity = read.choice("capacity", KINDS, "on-demand")
    check_purchase(read, CLOUD, known_machine(machine), capacity)
    return capacity


def check_capacity(capacity: str, has_reservation_id: bool) -> str:
    """Return why a capacity type and its reservation are invalid, or ""."""
    if is_bought(capacity) and not has_reservation_id:
        return (
            f'is required with "{capacity}" capacity; set it to the ID of the purchased capacity '
            "(cr-…)"
        )
    if has_reservation_id and not is_bought(capacity):
        return f'applies only to "reservation" or "capacity-block" capacity, not to "{capacity}"'
    return ""


def read_placement(read: InputReader, capacity: str) -> bool:
    """Return `placement_group`, which is always a new group. Purchased capacity isn't in a
    placement group, or is in another one.

    Sources: terraform-aws-modules/terraform-aws-eks pull request 3730 (reservations and Capacity
    Blocks that are not in the group: InsufficientInstanceCapacity); aws/aws-parallelcluster pull
    request 6311 (Capacity Blocks).
    """
    wanted = read.flag("placement_group", False)
    if wanted and is_bought(capacity):
        read.refuse(
            "placement_group",
            "isn't supported with purchased capacity, because EC2 doesn't use purchased capacity "
            "in a new placement group; remove this input",
        )
    return wanted
