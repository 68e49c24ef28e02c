"""What EC2 refuses of the network interfaces in a launch template, with the sentences that users report."""

from __future__ import annotations

from dra_sandbox.clouds.wire import Values

DEVICES_OF_A_CARD = 2  # of every card but the first; aws/aws-k8s-tester issue 531


def interfaces_are_in_order(inputs: Values) -> str | None:
    """Sources: aws-ia/terraform-aws-eks-blueprints issue 363 (no index); Young-ook/terraform-aws-eks issue 148 (twice);
    aws/aws-k8s-tester issue 531 (too high); EC2 user guide, “Maximize network bandwidth on Amazon EC2 instances with
    multiple network cards” (efa-only is never primary).
    """
    taken: set[tuple[int, int]] = set()
    for interface in inputs.get("networkInterfaces") or []:
        card, index = interface.get("networkCardIndex") or 0, interface.get("deviceIndex")
        if index is None:
            return "InvalidParameterValue: Each network interface requires a device index."
        if (card, index) in taken:
            return "InvalidParameterValue: Each network interface requires a unique device index."
        taken.add((card, index))
        if card and index >= DEVICES_OF_A_CARD:
            return (
                f"InvalidParameterValue: The specified number '{index}' for the device index exceeds the maximum "
                f"number of network interfaces supported by the network card at network card index {card}. The maximum "
                f"devices for this network card is {DEVICES_OF_A_CARD}. Specify a number from 0 to "
                f"{DEVICES_OF_A_CARD - 1}, and try again."
            )
        if (card, index) == (0, 0) and interface.get("interfaceType") == "efa-only":
            return "InvalidParameterValue: an EFA-only interface cannot be the primary interface"
    return None
