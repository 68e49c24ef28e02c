"""DRA drivers of a cluster and their settings, the device plugin, and custom classes."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import BeforeValidator, Field, create_model, model_validator

from dra_planner.clouds import selection_fault
from dra_planner.documents.models import StrictDocument, empty_list, refused_by
from dra_planner.drivers import Driver, class_name_fault, every_driver

Options = TypeVar("Options", bound=StrictDocument)
_LATER = {"efa": "isn't supported, because DRANET publishes EFA interfaces; set dranet to true"}


class DriversOfFleet(StrictDocument):
    """DRA drivers of the cluster by name. The fields are all known drivers."""

    @model_validator(mode="before")
    @classmethod
    def _not_yet(cls, data: Any) -> Any:
        named = [name for name in _LATER if isinstance(data, dict) and name in data]
        if named:
            raise ValueError("; ".join(f'driver "{name}" {_LATER[name]}' for name in named))
        return data

    def of(self, driver: Driver[Options]) -> Options | None:
        """Return the options of a driver, or None if the fleet doesn't install it."""
        return cast(Options, getattr(self, driver.name)) or None

    def installed(self) -> Iterator[tuple[Driver[Any], StrictDocument]]:
        """Yield the installed drivers with their options, sorted by name, network drivers last."""
        for driver in sorted(every_driver(), key=lambda each: each.is_network):
            if options := getattr(self, driver.name):
                yield driver, options


def _switched(value: Any, *, driver: Driver[Any]) -> Any:
    """Return the meaning of `true`, which is a driver with its defaults."""
    if isinstance(value, dict | driver.options) or value is False:
        return value
    if value is True and driver.accepts_true:
        return {}
    choices = "true, false, or" if driver.accepts_true else "false or"
    raise ValueError(f'must be {choices} the mapping {{version: …}}, not "{value}"')


def _field(driver: Driver[Any]) -> tuple[Any, Any]:
    off = Literal[False]
    accepted = driver.options | bool if driver.accepts_true else driver.options | off
    switch = BeforeValidator(partial(_switched, driver=driver), json_schema_input_type=accepted)
    is_left_out = None if driver.written_when_off else lambda value: value is False
    return (
        Annotated[driver.options | off, switch],
        Field(default=False, description=driver.meaning, exclude_if=is_left_out),
    )


_FIELDS: dict[str, Any] = {each.name: _field(each) for each in every_driver()}
if TYPE_CHECKING:

    class Drivers(DriversOfFleet):
        """The drivers of a fleet, with a field for each known driver."""

else:
    Drivers = create_model(
        "Drivers",
        __base__=DriversOfFleet,
        __module__=__name__,
        __doc__="DRA drivers in the cluster, by name.",
        **_FIELDS,
    )


class DevicePluginSettings(StrictDocument):
    """NVIDIA's device plugin, which runs only on nodes that aren't DRA nodes."""

    version: str = Field(description="Version of the Helm chart.")
    feature_discovery: bool = Field(
        default=False,
        exclude_if=lambda enabled: not enabled,
        description="Install GPU feature discovery on the same nodes, for labels such as "
        "nvidia.com/gpu.product.",
    )


class FleetDeviceClass(StrictDocument):
    """A custom DeviceClass."""

    name: Annotated[str, refused_by(class_name_fault)] = Field(
        description="Name that requests use."
    )
    selectors: Annotated[list[str], refused_by(selection_fault)] = Field(
        default_factory=empty_list,
        validate_default=True,
        description="CEL expressions. A device must satisfy all of them.",
    )
    extended_resource_name: str | None = Field(
        default=None,
        description="Extended resource that pods can request instead of a claim (Kubernetes 1.36 or later).",
    )
