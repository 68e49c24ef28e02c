"""Check interfaces and volumes of EC2 launch templates, with the error messages that
users report.
"""

from __future__ import annotations

import base64
from email import message_from_string

from dra_sandbox.clouds.type_rows import Facts
from dra_sandbox.clouds.wire_values import Values

DEVICES_OF_A_CARD = 2  # device index of every card except the first; aws/aws-k8s-tester issue 531


# EC2 user guide, “Run commands when you launch an EC2 instance with user data input”
MOST_BYTES = 16_384


_NO_CONTENT = frozenset(
    {
        "arn",
        "defaultVersion",
        "id",
        "latestVersion",
        "name",
        "namePrefix",
        "region",
        "tags",
        "tagsAll",
        "updateDefaultVersion",
    }
)


def latest_version(facts: Facts) -> int:
    """Return the number of the newest version. Only a change of the content creates a new one.

    Source: hashicorp/terraform-provider-aws:internal/service/ec2/ec2_launch_template.go@025e4f81.
    """
    before = int(facts.old.get("latestVersion") or 0)
    names = {*facts.inputs, *facts.old} - _NO_CONTENT
    is_other = any(facts.inputs.get(name) != facts.old.get(name) for name in names)
    return max(before + is_other, 1)


def user_data_is_multipart(inputs: Values) -> str | None:
    """Reject user data that EKS can't use: in a wrong encoding, too long, or not multipart.

    EKS merges the user data of Amazon Linux nodes with its own, so it must be multipart. The
    exceptions are templates with a custom image, whose user data isn't merged, and Bottlerocket,
    whose user data is TOML. Source: EKS user guide, “Customize managed nodes with launch
    templates”.
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


def volumes_are_sold(inputs: Values) -> str | None:
    """Reject gp3 volumes whose performance EC2 doesn't offer.

    Sources: EC2 API reference, LaunchTemplateEbsBlockDeviceRequest (limits of gp3 volumes);
    rocicorp/mono pull request 4410 (IOPS for a size); runs-on/runs-on issue 260 (throughput for
    IOPS); runs-on/runs-on issue 426 (throughput of another type).
    """
    for device in inputs.get("blockDeviceMappings") or []:
        volume = device.get("ebs") or {}
        kind, iops, throughput = (
            volume.get("volumeType"),
            volume.get("iops"),
            volume.get("throughput"),
        )
        if throughput is not None and kind != "gp3":
            return (
                "InvalidParameterCombination: throughput can only be specified for volumeType gp3."
            )
        if kind != "gp3":
            continue
        if iops is not None and not 3000 <= iops <= 80000:
            return f"InvalidParameterValue: Volume iops of {iops} is not between 3000 and 80000"
        if throughput is not None and not 125 <= throughput <= 2000:
            return (
                f"InvalidParameterValue: Volume throughput of {throughput} is not between 125 "
                "and 2000"
            )
        if (size := volume.get("volumeSize")) and iops and iops / size > 500:
            return (
                f"InvalidParameterValue: Iops to volume size ratio of {iops / size:.6f} is too "
                "high; maximum is 500"
            )
        if throughput and (ratio := throughput / (iops or 3000)) > 0.25:
            return (
                f"InvalidParameterValue: Throughput (MiBps) to iops ratio of {ratio:.6f} is too "
                "high; maximum is "
                "0.250000 MiBps per iops"
            )
    return None


def interfaces_are_in_order(inputs: Values) -> str | None:
    """Reject network interfaces with a missing, repeated, or invalid device index.

    Sources: aws-ia/terraform-aws-eks-blueprints issue 363 (missing index);
    Young-ook/terraform-aws-eks issue 148 (repeated index); aws/aws-k8s-tester issue 531 (index too
    high); EC2 user guide, “Maximize network bandwidth on Amazon EC2 instances with multiple network
    cards” (efa-only is never primary).
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
                f"InvalidParameterValue: The specified number '{index}' for the device index "
                "exceeds the maximum "
                "number of network interfaces supported by the network card at network card index "
                f"{card}. The maximum "
                f"devices for this network card is {DEVICES_OF_A_CARD}. Specify a number from 0 to "
                f"{DEVICES_OF_A_CARD - 1}, and try again."
            )
        if (card, index) == (0, 0) and interface.get("interfaceType") == "efa-only":
            return "InvalidParameterValue: an EFA-only interface cannot be the primary interface"
    return None


def reservation_preference_allows_target(inputs: Values) -> str | None:
    """Reject a capacity reservation target if the preference isn't capacity-reservations-only.

    Sources: hashicorp/terraform-provider-aws issue 43881 and pull request 43890 (without the text
    of the error message).
    """
    specification = inputs.get("capacityReservationSpecification") or {}
    preference = specification.get("capacityReservationPreference")
    if not specification.get("capacityReservationTarget") or preference in (
        None,
        "capacity-reservations-only",
    ):
        return None
    return (
        "capacityReservationTarget needs capacityReservationPreference "
        f"capacity-reservations-only, not {preference}"
    )
