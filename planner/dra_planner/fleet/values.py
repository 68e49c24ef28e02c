"""What the parts of a fleet are made of: closed mappings with camelCase keys, prices, amounts, label texts.

Modules with such parts take annotations as they stand: pydantic would compile those that are texts at every start.
"""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from dra_planner.clouds import range_fault
from dra_planner.errors import PlannerError
from dra_planner.quantity import Quantity, amount_complaint

Part = TypeVar("Part", bound="Document")
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"


class Document(BaseModel):
    """A mapping of the fleet: keys are camelCase outside, unknown keys are errors, values are not coerced."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, populate_by_name=True, defer_build=True
    )


# pydantic reads the signature of each factory: that of a function is known, that of `list` or of a model takes long.


def empty_list() -> list[Any]:
    """Return a new list: what a field is where nothing is given."""
    return []


def empty_mapping() -> dict[str, Any]:
    """Return a new dictionary: what a field is where nothing is given."""
    return {}


def nothing_given(part: type[Part]) -> Callable[[], Part]:
    """Return what makes a part with all of its defaults, which needs no validator of its own."""
    return lambda: part.model_construct()


def sentence_of(error: PlannerError) -> str:
    """Return what an error says, with its fix."""
    return f"{error.message}; {error.fix}" if error.fix else error.message


def refused_by(fault: Callable[[Any], str]) -> AfterValidator:
    """Return the check that refuses a value with the sentence that `fault` has for it, "" for none."""

    def check(value: Any) -> Any:
        if sentence := fault(value):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)


def within(allowed: range) -> AfterValidator:
    """Return the check that a number is one of those allowed."""
    return refused_by(lambda number: range_fault(number, allowed))


def bounds(allowed: range) -> dict[str, Any]:
    """Return what the published schema says of such a number."""
    return {"minimum": allowed[0], "maximum": allowed[-1]}


def _as_decimal(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f'"{value}" is not a valid price; write dollars per node and hour: 1.25') from None


def _as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


Price = Annotated[Decimal, BeforeValidator(_as_decimal), PlainSerializer(_as_number), Field(gt=0, allow_inf_nan=False)]


def _as_quantity(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


QuantityText = Annotated[
    str,
    BeforeValidator(_as_quantity, json_schema_input_type=str | int | float),
    refused_by(amount_complaint),
]
"""An amount as Kubernetes writes it; a plain number is text as well."""


class Amount(Document):
    """So much of a node: `cpu` in cores or thousandths ("500m"), `memory` in bytes or with a suffix ("2Gi")."""

    cpu: QuantityText = Field(default="0", description='Cores, or thousandths of one: "500m".')
    memory: QuantityText = Field(default="0", description='Bytes, or with a suffix: "2Gi".')

    @property
    def amounts(self) -> dict[str, int]:
        """The same in the planner's units: cpu in thousandths, memory in bytes."""
        return {"cpu": Quantity.parse(self.cpu).milli_value, "memory": Quantity.parse(self.memory).value}
