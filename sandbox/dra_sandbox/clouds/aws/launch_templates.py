"""What EC2 refuses of the network interfaces in a launch template, with the sentences that users report."""

from __future__ import annotations

import base64
from email import message_from_string

from dra_sandbox.clouds.wire import Values

DEVICES_OF_A_CARD = 2  # of every card but the first; aws/aws-k8s-tester issue 531


MOST_BYTES = 16_384  # EC2 user guide, “Run commands when you launch an EC2 instance with user data input”


def user_data_is_multipart(inputs: Values) -> str | None:
    """EKS user guide, “Customize managed nodes with launch templates”: Amazon Linux's is merged with EKS's own.

    A template with an image of its own is not merged, and Bottlerocket's is TOML.
    """
    if not inputs.get("userData") or inputs.get("imageId"):
        return None
    try:
        text = base64.b64decode(inputs["userData"], validate=True).decode()
    except ValueError:
        return "InvalidUserData.Malformed: Invalid BASE64 encoding of user data."
    if len(text.encode()) > MOST_BYTES:
        return "InvalidUserData.Malformed: User data is limited to 16384 bytes"
    is_toml = text.lstrip().startswith("[settings")
    if is_toml or message_from_string(text).is_multipart():
        return None
    return "Ec2LaunchTemplateInvalidConfiguration: User data was not in the MIME multipart format."


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
