"""The amounts that a claim consumes of a device that several claims share."""

from __future__ import annotations

from pydantic import Field

from dra_command.contract.output import Output


class ShareRow(Output):
    """One capacity of a shared device: requested, consumed, and free amounts, as quantities."""

    device: str
    capacity: str
    requested: str | None = Field(
        description="Requested amount, or null if the device's request policy sets the amount."
    )
    consumed: str = Field(description="Requested amount, rounded by the device's request policy.")
    total: str = Field(description="Amount of the whole device.")
    left: str = Field(description="Amount of the device that remains free after all listed claims.")
    claims_per_device: int = Field(
        description="Number of claims with this request that fit on one device."
    )
    at_most_for_one_more: str | None = Field(
        description="Largest request with which one more claim (claims_per_device + 1) fits on an "
        "empty device. null if the device's request policy doesn't allow such a small request."
    )
