"""The portfolio file: stacks, scenarios, and questions. Unknown keys are errors."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from dra_planner.documents.models import StrictDocument
from dra_planner.errors import PlannerError
from dra_planner.fleet import Pool
from dra_planner.fleet.value_types import Price, sentence_of
from dra_planner.releases import parse_version

AS_IS = "as-is"
"""The scenario without edits, which every portfolio has."""
MOST_FACTOR = 10_000
_NAME = r"^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$"

Name = Annotated[str, StringConstraints(pattern=_NAME, max_length=100)]
Path = Annotated[str, Field(min_length=1)]


def _number(value: Any) -> Any:
    return (
        Decimal(str(value))
        if isinstance(value, int | float) and not isinstance(value, bool)
        else value
    )


Factor = Annotated[
    Decimal,
    BeforeValidator(_number, json_schema_input_type=float),
    Field(ge=0, le=MOST_FACTOR, allow_inf_nan=False),
]
Share = Annotated[
    Decimal,
    BeforeValidator(_number, json_schema_input_type=float),
    Field(ge=0, le=1, allow_inf_nan=False),
]


def _version(value: str | None) -> str | None:
    if value is not None:
        try:
            parse_version(value)
        except PlannerError as error:
            raise ValueError(sentence_of(error)) from None
    return value


class PortfolioPart(BaseModel):
    """A mapping of a portfolio.

    Keys are camelCase in files, unknown keys are errors, and values aren't coerced.
    """

    model_config = StrictDocument.model_config


class GitRef(PortfolioPart):
    """Git ref from which to read files, instead of the working tree."""

    ref: Path = Field(description="Branch, tag, or commit.")
    repository: Path = Field(
        default=".", description="Folder of the repository. Default: the portfolio's folder."
    )


class StackEntry(PortfolioPart):
    """One stack or fleet, or all stacks or fleets that match a glob. Paths are relative to the
    portfolio's folder.
    """

    stack: Path | None = Field(
        default=None, description="Settings of a stack (stacks/Pulumi.NAME.yaml), or a glob."
    )
    fleet: Path | None = Field(default=None, description="Fleet file, or a glob.")
    name: Name | None = Field(
        default=None,
        description="Name in the report. Default: the name of the stack or of the fleet file.",
    )
    workloads: list[Path] = Field(
        default_factory=list,
        description="Files, folders, or globs. Default: the stack's workloads.",
    )
    labels: dict[str, str] = Field(
        default_factory=dict, description="Labels by which `place` can select the cluster."
    )
    git: GitRef | None = Field(
        default=None,
        description="Git ref from which to read the settings, fleet, and workload files.",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.stack is None) == (self.fleet is None):
            given = (
                "doesn't set a stack or a fleet"
                if self.stack is None
                else "sets both a stack and a fleet"
            )
            raise ValueError(f"{given}; set either stack or fleet")
        if self.fleet is not None and not self.workloads:
            raise ValueError("a fleet needs workloads; list their files or folders in `workloads`")
        return self


class Scaling(PortfolioPart):
    """Factor for the replicas of workloads at every level of demand. Results are rounded up.
    DaemonSets don't change.
    """

    factor: Factor = Field(description="Factor for replicas. 0 stops the workloads.")
    workloads: list[Path] = Field(
        default_factory=lambda: ["*"],
        description="Patterns of NAMESPACE/NAME, for example team-a/*. Default: all.",
    )


class Scenario(PortfolioPart):
    """Edits to the fleet and the demand of every stack."""

    name: Name = Field(description="Name, unique in the portfolio.")
    replicas: Scaling | None = Field(
        default=None,
        description="Factor by which replica counts are multiplied: a number for all "
        "workloads, or a factor with the patterns of the workloads that it applies to.",
    )
    add_workloads: list[Path] = Field(
        default_factory=list, description="Additional manifests for every stack."
    )
    remove_workloads: list[Path] = Field(
        default_factory=list, description="Patterns of NAMESPACE/NAME."
    )
    add_pools: list[Pool] = Field(
        default_factory=list, description="Additional pools for every fleet."
    )
    remove_pools: list[Path] = Field(
        default_factory=list, description="Patterns of pool names. These pools have no nodes."
    )
    pools: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Pool keys to set, by pool name pattern: {h100: {count: 4}}.",
    )
    kubernetes: str | None = Field(
        default=None, description='Kubernetes version of the control plane, in quotes: "1.35".'
    )
    driver: str | None = Field(
        default=None, description="Version of the NVIDIA DRA driver's chart."
    )
    prices: dict[str, Price] = Field(
        default_factory=dict, description="US dollars per node-hour, by machine type."
    )
    price_factor: Factor | None = Field(
        default=None, description="Factor for all other known prices."
    )
    zones_lost: list[Path] = Field(
        default_factory=list,
        description="Zones without nodes. A pool that runs only in these zones has no nodes.",
    )

    @field_validator("replicas", mode="before")
    @classmethod
    def _of_all(cls, value: Any) -> Any:
        return (
            {"factor": value}
            if isinstance(value, int | float) and not isinstance(value, bool)
            else value
        )

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, value: str) -> str:
        if value == AS_IS:
            raise ValueError(f'"{AS_IS}" is the scenario without edits, which every portfolio has')
        return value

    @field_validator("kubernetes")
    @classmethod
    def _known_release(cls, value: str | None) -> str | None:
        return _version(value)

    @property
    def edits_fleet(self) -> bool:
        """Whether the scenario edits the fleet."""
        return bool(
            self.add_pools
            or self.remove_pools
            or self.pools
            or self.kubernetes
            or self.driver
            or self.prices
            or self.price_factor is not None
            or self.zones_lost
        )


class CurveQuestion(PortfolioPart):
    """Additional pods of each workload that fit in each cluster, with their cost."""

    workloads: list[Path] = Field(
        default_factory=lambda: ["*"], description="Patterns of NAMESPACE/NAME."
    )
    most: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=64, description="Maximum number of added pods."
    )
    scenarios: list[Name] = Field(
        default_factory=lambda: [AS_IS], description="Scenarios to include."
    )


class RiskQuestion(PortfolioPart):
    """Probability of pending pods on the planned nodes, for random arrival orders and losses of
    Spot nodes.
    """

    draws: Annotated[int, Field(ge=10, le=100_000)] = Field(
        default=100, description="Number of simulated runs."
    )
    spot_loss: Share = Field(
        default=Decimal(0),
        description="Probability that a Spot node is lost in one run, independently of other nodes.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1, description="Seed of the first run. Each following run adds 1."
    )
    scenarios: list[Name] = Field(
        default_factory=lambda: [AS_IS], description="Scenarios to include."
    )


class Questions(PortfolioPart):
    """Settings for the results. The verdict, node counts, and cost of each cell are always
    included.
    """

    demand: Literal["floor", "steady", "ceiling", "peak"] = Field(
        default="steady", description="Demand for which plans size the pools."
    )
    simulate: (
        Literal["off"] | Annotated[Decimal, BeforeValidator(_number, json_schema_input_type=float)]
    ) = Field(
        default=Decimal("0.2"),
        description="Time limit for the simulation of one plan, in seconds (estimated for a typical computer), or off.",
    )
    curves: CurveQuestion | None = Field(default=None, description="Capacity curves to compute.")
    risk: RiskQuestion | None = Field(default=None, description="Risk simulation to run.")

    @field_validator("simulate", mode="before")
    @classmethod
    def _off(cls, value: Any) -> Any:
        """Convert YAML's value of the word `off`, and report the allowed values for other input."""
        if value is False or value == "off":
            return "off"
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise ValueError(f'"{value}" isn\'t "off" or a number of seconds from 0 to 3600')
        return value

    @field_validator("simulate")
    @classmethod
    def _within(cls, value: Any) -> Any:
        if value != "off" and not 0 < value <= 3_600:
            raise ValueError(f'"{value}" isn\'t "off" or a number of seconds from 0 to 3600')
        return value


class Placing(PortfolioPart):
    """Workloads that can run in one of multiple clusters."""

    workloads: list[Path] = Field(min_length=1, description="Files, folders, or globs.")
    clusters: dict[str, str] = Field(
        default_factory=dict,
        description="Labels that a cluster must have. The labels cluster.pulumi-dra/KEY: VALUE "
        "of a workload add further requirements.",
    )


class Limits(PortfolioPart):
    """Limits for one cell. `portfolio` reports cells that exceed the limits, and continues with the
    other cells.
    """

    seconds: Annotated[int, Field(ge=1, le=86_400)] = Field(
        default=120, description="Time limit for one cell, in seconds."
    )
    memory_gib: Annotated[
        Decimal, BeforeValidator(_number, json_schema_input_type=float), Field(gt=0)
    ] = Field(default=Decimal(4), description="Memory limit for one worker, in GiB.")


class Portfolio(PortfolioPart):
    """Several stacks and their scenarios. The published schema is `docs/schema/portfolio.json`."""

    stacks: list[StackEntry] = Field(min_length=1, description="Stacks and fleets.")
    scenarios: list[Scenario] = Field(
        default_factory=list,
        description=f"Scenarios to plan, in addition to {AS_IS}, which has no edits.",
    )
    ask: Questions = Field(default_factory=Questions)
    place: list[Placing] = Field(
        default_factory=list, description="Workloads to assign to clusters."
    )
    limits: Limits = Field(default_factory=Limits)

    @property
    def all_scenarios(self) -> tuple[Scenario, ...]:
        """The scenario without edits, followed by the document's scenarios in order."""
        return (Scenario.model_construct(name=AS_IS), *self.scenarios)
