"""Capacity of a GKE pool: settings of the node configuration and of the pool."""

from typing import Any

import pulumi
import pulumi_gcp as gcp

KINDS = ("on-demand", "spot", "reservation", "flex-start", "queued")


# If no additional machine is available, a full pool can't add a node first, so GKE removes a node
# and then adds one.
_ONE_BY_ONE: gcp.container.NodePoolUpgradeSettingsArgsDict = {
    "strategy": "SURGE",
    "max_surge": 0,
    "max_unavailable": 1,
}
# GKE chooses the upgrade strategy of flex-start and queued nodes (short-lived upgrades), and the
# provider rejects the name of this strategy (hashicorp/terraform-provider-google@v7.45.0,
# resource_container_node_pool.go).
_BY_ENDING: gcp.container.NodePoolUpgradeSettingsArgsDict | None = None


class CapacitySettings:
    """A pool's capacity as settings of the node configuration and of the pool.

    GKE doesn't repair nodes of the Dynamic Workload Scheduler (flex-start, queued), because a
    repair would return the nodes. Upgrades take effect when the nodes expire
    (docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest and
    …/docs/concepts/node-pool-upgrade-strategies).
    """

    def __init__(
        self, kind: str, reservation: pulumi.Input[str] | None, max_run_seconds: int
    ) -> None:
        self.kind = kind
        is_lent = kind in ("flex-start", "queued")
        self.is_repaired = not is_lent
        self.upgrade_settings: gcp.container.NodePoolUpgradeSettingsArgsDict | None = (
            _BY_ENDING if is_lent else _ONE_BY_ONE
        )
        self.at_once = 1
        self.pool: dict[str, Any] = (
            {"queued_provisioning": {"enabled": True}} if kind == "queued" else {}
        )
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
            "flex-start": {
                "flex_start": True,
                "max_run_duration": f"{max_run_seconds}s",
                "reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"},
            },
            # Both settings are required:
            # docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest.
            "queued": {
                "flex_start": True,
                "reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"},
            },
        }
        self.node_config = kinds[kind]

    def replace_at_once(self, surge: int, unavailable: int) -> None:
        """Set how many nodes an upgrade adds first, and how many it removes at once."""
        self.upgrade_settings = {
            "strategy": "SURGE",
            "max_surge": surge,
            "max_unavailable": unavailable,
        }
        self.at_once = surge + unavailable
