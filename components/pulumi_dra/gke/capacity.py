"""How a GKE pool gets its machines: settings of the node configuration and of the pool."""

from typing import Any

import pulumi
import pulumi_gcp as gcp

KINDS = ("on-demand", "spot", "reservation", "flex-start", "queued")


class Capacity:
    """Where a pool's machines come from, as settings of the node configuration and of the pool."""

    def __init__(self, kind: str, reservation: pulumi.Input[str] | None, max_run_seconds: int) -> None:
        self.kind = kind
        self.pool: dict[str, Any] = {"queued_provisioning": {"enabled": True}} if kind == "queued" else {}
        kinds: dict[str, gcp.container.NodePoolNodeConfigArgsDict] = {
            "on-demand": {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}},
            "spot": {"spot": True},
            "reservation": {
                "reservation_affinity": {
                    "consume_reservation_type": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": [reservation or ""],
                }
            },
            "flex-start": {"flex_start": True, "max_run_duration": f"{max_run_seconds}s"},
            "queued": {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}},
        }
        self.node_config = kinds[kind]
