"""Options of the NVIDIA DRA driver in a fleet."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dra_planner.documents.models import StrictDocument, empty_mapping
from dra_planner.drivers.nvidia.settings import PublishingSettings


def _check_shares(value: Any) -> Any:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)  # in the same form as the chart's value
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if value not in ("", "disabled", "memory", "unlimited") and not is_count:
        raise ValueError(
            f'"{value}" isn\'t a valid sharing mode; use "memory", "unlimited", or a '
            "positive number"
        )
    return value


class NvidiaDriver(StrictDocument):
    """The NVIDIA DRA driver."""

    version: str = Field(
        description="Version of the Helm chart, or of the driver that the GPU Operator runs."
    )
    installer: Literal["chart", "gpu-operator"] = Field(
        default="chart",
        exclude_if=lambda installer: installer == "chart",
        description="Installer of the driver. chart: the stack installs the driver's Helm chart. "
        "gpu-operator: the GPU Operator (26.7.0 or later) installs the driver for a "
        "GPUCluster, which you create outside the stack.",
    )
    feature_gates: dict[str, bool] = Field(
        default_factory=empty_mapping,
        description="Feature gates of the driver, by name (`pulumi-dra catalog drivers`): "
        "DynamicMIG, "
        "PassthroughSupport for VFIO, ConsumableShares, ….",
    )
    consumable_shares: Annotated[
        Literal["", "disabled", "memory", "unlimited"] | Annotated[int, Field(ge=1)],
        BeforeValidator(_check_shares),
    ] = Field(
        default="",
        description="Method for sharing a GPU between claims: memory, unlimited, or a number of "
        "shares (time-slicing). Requires the ConsumableShares feature gate (driver 0.5.0 "
        "or later, Kubernetes 1.36 or later).",
    )
    compute_domains: bool = Field(
        default=False,
        description="Enable ComputeDomains for multi-node NVLink (GB200, GB300).",
    )

    @property
    def is_installed_elsewhere(self) -> bool:
        """True if a GPUCluster runs the driver, so that the stack doesn't install it."""
        return self.installer != "chart"

    @property
    def settings(self) -> PublishingSettings:
        """The options that affect the published devices of a node."""
        return PublishingSettings(
            gates=self.feature_gates,
            consumable_shares=str(self.consumable_shares),
            compute_domains=self.compute_domains,
        )
