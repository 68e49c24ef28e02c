"""Types for the parts of a fleet: closed mappings with camelCase keys, prices, amounts, and label
texts.

Modules with such parts don't postpone annotations, because pydantic would compile text annotations
at every start.
"""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from dra_planner.clouds import range_fault
from dra_planner.documents.models import StrictDocument, refused_by
from dra_planner.errors import PlannerError
from dra_planner.quantity import Quantity, amount_fault

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"


def sentence_of(error: PlannerError) -> str:
    """Return the sentence of an error, with its fix."""
    return f"{error.message}; {error.fix}" if error.fix else error.message


def within(allowed: range) -> AfterValidator:
    """Return a check that a number is in the allowed range."""
    return refused_by(lambda number: range_fault(number, allowed))


def bounds(allowed: range) -> dict[str, Any]:
    """Return the range of such a number for the published schema."""
    return {"minimum": allowed[0], "maximum": allowed[-1]}


def _as_decimal(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise ValueError(
            f'"{value}" isn\'t a valid price; use US dollars per node-hour, for example 1.25'
        ) from None


def _as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


Price = Annotated[
    Decimal,
    BeforeValidator(_as_decimal),
    PlainSerializer(_as_number),
    Field(gt=0, allow_inf_nan=False),
]


def _as_quantity(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


QuantityText = Annotated[
    str,
    BeforeValidator(_as_quantity, json_schema_input_type=str | int | float),
    refused_by(amount_fault),
]
"""An amount in Kubernetes' form. A plain number is also text."""


class Amount(StrictDocument):
    """An amount of a node's resources: `cpu` in cores or thousandths ("500m"), `memory` in bytes or
    with a suffix ("2Gi").
    """

    cpu: QuantityText = Field(default="0", description='Cores, or thousandths of a core: "500m".')
    memory: QuantityText = Field(
        default="0", description=('Bytes, or a number with a suffix: "2Gi".')
    )

    @property
    def amounts(self) -> dict[str, int]:
        """The amounts in the planner's units: CPU in thousandths, memory in bytes."""
        return {
            "cpu": Quantity.parse(self.cpu).milli_value,
            "memory": Quantity.parse(self.memory).value,
        }
