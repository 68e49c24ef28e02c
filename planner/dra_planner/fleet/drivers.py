"""DRA drivers of a cluster and how they are set up, the device plugin beside them, classes of the platform's own."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from dra_planner.catalog import DriverSettings, chart_version_fault
from dra_planner.clouds import class_name_fault, selection_fault
from dra_planner.fleet.values import Document, empty_list, empty_mapping, refused_by

_LATER = {
    "efa": "is not supported: DRANET publishes EFA interfaces; write dranet: true",
    "tpu": "is not supported yet; remove it, or plan on real nodes with --observed",
    "neuron": "is not supported yet; remove it, or plan on real nodes with --observed",
}


def _check_shares(value: Any) -> Any:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)  # as the chart's own value is written
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if value not in ("", "disabled", "memory", "unlimited") and not is_count:
        raise ValueError(f'"{value}" is not a way to share devices; use "memory", "unlimited" or a positive number')
    return value


class NvidiaDriver(Document):
    """The NVIDIA DRA driver."""

    version: str = Field(description="Version of the Helm chart.")
    feature_gates: dict[str, bool] = Field(
        default_factory=empty_mapping,
        description="Feature gates of the driver, by name (`pulumi-dra catalog drivers`): DynamicMIG, "
        "PassthroughSupport for VFIO, ConsumableShares, ….",
    )
    consumable_shares: Annotated[
        Literal["", "disabled", "memory", "unlimited"] | Annotated[int, Field(ge=1)], BeforeValidator(_check_shares)
    ] = Field(
        default="",
        description="How several claims share a GPU, with the gate ConsumableShares (0.5.0 and Kubernetes 1.36 or "
        "later): by memory, without limit, or in so many shares (time-slicing).",
    )
    compute_domains: bool = Field(
        default=False, description="Whether ComputeDomains are served, for NVLink across nodes (GB200, GB300)."
    )

    @property
    def settings(self) -> DriverSettings:
        """What of this changes what a node publishes."""
        return DriverSettings(
            gates=self.feature_gates,
            consumable_shares=str(self.consumable_shares),
            compute_domains=self.compute_domains,
        )


class Dranet(Document):
    """DRANET: network interfaces that pods claim beside GPUs. EFA on EKS; on GKE the cloud runs it."""

    version: Annotated[str, refused_by(chart_version_fault)] = Field(
        default="", description="EKS: version of the chart aws-dranet. GKE manages its own: leave it out."
    )


def _dranet(value: Any) -> Any:
    if not isinstance(value, bool | dict | Dranet):
        raise ValueError(f'must be true, false or the mapping {{version: …}}, not "{value}"')
    return {} if value is True else value


class Drivers(Document):
    """DRA drivers of the cluster, by name."""

    nvidia: NvidiaDriver
    dranet: Annotated[
        Dranet | Literal[False],
        BeforeValidator(_dranet, json_schema_input_type=Dranet | bool),
    ] = Field(default=False, description="Network interfaces beside GPUs: true, or which version (EKS).")

    @model_validator(mode="before")
    @classmethod
    def _not_yet(cls, data: Any) -> Any:
        named = [name for name in _LATER if isinstance(data, dict) and name in data]
        if named:
            raise ValueError("; ".join(f'driver "{name}" {_LATER[name]}' for name in named))
        return data


class DevicePlugin(Document):
    """NVIDIA's device plugin beside the DRA driver, for nodes that are not DRA nodes."""

    version: str = Field(description="Version of the Helm chart.")


class FleetDeviceClass(Document):
    """A DeviceClass of the platform's own."""

    name: Annotated[str, refused_by(class_name_fault)] = Field(description="Name that requests give.")
    selectors: Annotated[list[str], refused_by(selection_fault)] = Field(
        default_factory=empty_list, validate_default=True, description="CEL expressions over one device, ANDed."
    )
    extended_resource_name: str | None = Field(
        default=None, description="Extended resource that pods may ask for instead of a claim (1.36 and later)."
    )
