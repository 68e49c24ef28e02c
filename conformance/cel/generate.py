"""Generate random selectors and devices. Most selectors are well typed, and some are ill typed.

The generator iterates over the engine's own table of overloads, so that every function is called.
It also generates expressions without functions: literals, reads of the device, macros, and
operators. A seed determines each case.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct

from devices import device
from dra_planner.cel import types
from dra_planner.cel.checking.overloads import Overload, declared
from dra_planner.cel.dialect import Dialect, Environment
from dra_planner.cel.types import CelType, Substitution
from dra_planner.releases import features_of
from leaf_expressions import Leaves
from vocabulary import (
    ADDRESSES,
    BAD_QUANTITIES,
    BAD_VERSIONS,
    DRIVER,
    FORMATS,
    MOMENTS,
    NETWORKS,
    PATTERNS,
    QUANTITIES,
    SPANS,
    URLS,
    VERSIONS,
    quote,
)


class Case(Struct, frozen=True):
    """A selector, the devices on which it's evaluated, and its dialect."""

    identity: str
    expression: str
    dialect: Dialect
    devices: tuple[dict[str, Any], ...]


class Generator(Leaves):
    """Generates the cases of one dialect from a random source."""

    def __init__(self, chance: random.Random, dialect: Dialect) -> None:
        super().__init__(chance)
        self.dialect = dialect
        self.overloads = [
            o
            for name, overloads in declared(dialect).items()
            for o in overloads
            if not name.startswith(("@", "_", "!", "-", "cel.@"))
            and not o.id.startswith(
                ("authorizer", "groupcheck", "resourcecheck", "pathcheck", "decision")
            )
        ]
        self.rare = [
            o for o in _all(declared(dialect)) if o.id.startswith(("authorizer", "resourcecheck"))
        ]
        self.depth = 0
        self.wrong = 0.0

    # -- cases

    def case(self, identity: str) -> Case:
        """Return a new case."""
        self.variables, self.depth = [], 0
        self.wrong = self.chance.choice([0, 0, 0, 0.02, 0.06])
        expression = self.bool_top()
        if self.chance.random() < 0.03:
            expression = self.damage(expression)
        return Case(
            identity,
            expression,
            self.dialect,
            tuple(device(self.chance, self.dialect) for _ in range(3)),
        )

    def damage(self, text: str) -> str:
        """Return the text with one changed character."""
        at = self.chance.randrange(len(text) + 1)
        return (
            text[:at]
            + self.chance.choice(
                ["", "(", ")", ".", "?", "'", "!", "0", " ", "-", "[", "&", "a", ",", "`"]
            )
            + text[at + self.chance.randint(0, 1) :]
        )

    def bool_top(self) -> str:
        roll = self.chance.random()
        if roll < 0.1:
            return self.attribute()
        if roll < 0.13:
            return f"dyn({self.expression(types.optional_of(types.BOOL))})"
        return self.expression(types.BOOL)

    # -- expressions by type

    def expression(self, wanted: CelType) -> str:
        """Return an expression of this type or (rarely) of another type."""
        if self.chance.random() < self.wrong:
            wanted = self.chance.choice(
                [
                    types.BOOL,
                    types.INT,
                    types.STRING,
                    types.DOUBLE,
                    types.QUANTITY,
                    types.SEMVER,
                    types.list_of(types.INT),
                    types.NULL,
                    types.BYTES,
                    types.optional_of(types.INT),
                ]
            )
        self.depth += 1
        try:
            if self.depth > self.chance.choice([2, 3, 4, 6]):
                return self.leaf(wanted)
            roll = self.chance.random()
            if roll < 0.25:
                return self.leaf(wanted)
            if roll < 0.45:
                return self.operator(wanted)
            if roll < 0.62:
                return self.macro(wanted)
            if roll < 0.635:
                return (
                    f"dyn({self.expression(self.some_type())})"
                    if self.chance.random() < 0.3
                    else self.leaf(wanted)
                )
            if roll < 0.66:
                return (
                    f"({self.expression(types.BOOL)} ? {self.expression(wanted)} : "
                    f"{self.expression(wanted)})"
                )
            return self.call(wanted)
        finally:
            self.depth -= 1

    # -- operators, macros, calls

    def operator(self, wanted: CelType) -> str:
        chance = self.chance
        if wanted == types.BOOL:
            roll = chance.random()
            if roll < 0.4:
                return (
                    f"({self.expression(types.BOOL)} {chance.choice(['&&', '||'])} "
                    f"{self.expression(types.BOOL)})"
                )
            if roll < 0.5:
                return f"!({self.expression(types.BOOL)})"
            t = self.some_type()
            if roll < 0.7:
                return f"{self.operand(t)} {chance.choice(['==', '==', '!='])} {self.operand(t)}"
            if roll < 0.85:
                a, b = (
                    chance.choice(
                        [
                            types.INT,
                            types.DOUBLE,
                            types.STRING,
                            types.UINT,
                            types.DURATION,
                            types.TIMESTAMP,
                            types.BOOL,
                            types.BYTES,
                        ]
                    ),
                    None,
                )
                b = (
                    a
                    if chance.random() < 0.7
                    else chance.choice([types.INT, types.UINT, types.DOUBLE])
                )
                return (
                    f"{self.operand(a)} {chance.choice(['<', '<=', '>', '>='])} {self.operand(b)}"
                )
            if roll < 0.9:
                return f"{self.operand(t)} in {self.operand(types.list_of(t))}"
            if roll < 0.93:
                scalar = chance.choice(
                    [types.INT, types.STRING, types.DOUBLE, types.UINT, types.BOOL, types.BYTES]
                )
                return f"{self.attribute()} in {self.literal(types.list_of(scalar))}"
            if roll < 0.97:
                return f"has({chance.choice([self.attribute, self.chain])()})"
            return (
                f"{self.operand(types.STRING)} in "
                f"{self.operand(types.map_of(types.STRING, types.INT))}"
            )
        if wanted in (types.INT, types.UINT, types.DOUBLE):
            operator = chance.choice("+-*/" if wanted == types.DOUBLE else "+-*/%")
            return f"({self.expression(wanted)} {operator} {self.expression(wanted)})"
        if wanted in (types.STRING, types.BYTES, types.DURATION) or wanted.kind == "list":
            return f"({self.expression(wanted)} + {self.expression(wanted)})"
        return self.leaf(wanted)

    def operand(self, t: CelType) -> str:
        text = self.expression(t)
        return f"({text})" if any(c in text for c in "<>=?&|") or " in " in text else text

    def macro(self, wanted: CelType) -> str:
        chance = self.chance
        if chance.random() < 0.3:
            bound = self.some_type()
            name = self.fresh()
            value = self.operand(bound)
            return f"cel.bind({name}, {value}, {self.within([(name, bound)], wanted)})"
        over, variables = self.range(two=chance.random() < 0.3)
        names = ", ".join(name for name, _ in variables)
        if len(variables) == 1 and wanted.kind == "list" and chance.random() < 0.1:
            return (
                f"{over}.sortBy({names}, "
                f"{self.within(variables, chance.choice([types.INT, types.STRING]))})"
            )
        if wanted == types.BOOL:
            form = chance.choice(["exists", "all", "exists_one", "existsOne"])
            return f"{over}.{form}({names}, {self.within(variables, types.BOOL)})"
        if wanted.kind == "list" and len(variables) == 1:
            if chance.random() < 0.3 and variables[0][1] == wanted.parameters[0]:
                return f"{over}.filter({names}, {self.within(variables, types.BOOL)})"
            condition = f"{self.within(variables, types.BOOL)}, " if chance.random() < 0.3 else ""
            return f"{over}.map({names}, {condition}{self.within(variables, wanted.parameters[0])})"
        if wanted.kind == "list":
            condition = f"{self.within(variables, types.BOOL)}, " if chance.random() < 0.3 else ""
            return (
                f"{over}.transformList({names}, "
                f"{condition}{self.within(variables, wanted.parameters[0])})"
            )
        if wanted.kind == "map" and len(variables) == 2:
            return self.transformed(over, names, variables, wanted)
        if wanted.kind == "opaque" and wanted.name == "optional_type":
            name = self.fresh()
            if chance.random() < 0.3:
                return (
                    f"{self.optional(self.some_type())}.optFlatMap({name}, "
                    f"{self.within([(name, types.DYN)], wanted)})"
                )
            inner = self.some_type()
            return (
                f"{self.optional(inner)}.optMap({name}, "
                f"{self.within([(name, types.DYN)], wanted.parameters[0])})"
            )
        return self.call(wanted)

    def transformed(
        self, over: str, names: str, variables: list[tuple[str, CelType]], wanted: CelType
    ) -> str:
        """Return a map that a macro creates from a list or a map."""
        condition = f"{self.within(variables, types.BOOL)}, " if self.chance.random() < 0.3 else ""
        if self.chance.random() < 0.7:
            return (
                f"{over}.transformMap({names}, "
                f"{condition}{self.within(variables, wanted.parameters[1])})"
            )
        key, value = [self.within(variables, t) for t in wanted.parameters]
        return f"{over}.transformMapEntry({names}, {condition}{{({key}): {value}}})"

    def range(self, two: bool) -> tuple[str, list[tuple[str, CelType]]]:
        chance = self.chance
        first, second = self.fresh(), self.fresh()
        if chance.random() < 0.35:
            over = chance.choice(
                [
                    f'device.attributes["{DRIVER}"]',
                    "device.attributes",
                    f'device.capacity["{DRIVER}"]',
                    f'device.attributes["{DRIVER}"].strs',
                    '{"a": 1, "b": 2}',
                ]
            )
            value = types.QUANTITY if "capacity" in over else types.DYN
            return over, [(first, types.STRING), (second, value)] if two else [
                (first, types.STRING)
            ]
        element = chance.choice([types.INT, types.STRING, types.DOUBLE, types.BOOL])
        over = self.operand(types.list_of(element))
        return over, [(first, types.INT), (second, element)] if two else [(first, element)]

    def within(self, variables: list[tuple[str, CelType]], wanted: CelType) -> str:
        self.variables.extend(variables)
        try:
            return self.expression(wanted)
        finally:
            del self.variables[len(self.variables) - len(variables) :]

    def fresh(self) -> str:
        return self.chance.choice(["x", "y", "z", "k", "v", "d"]) + str(
            len(self.variables) + self.chance.randint(0, 2)
        )

    def call(self, wanted: CelType) -> str:
        """Return a call of a function whose result has this type."""
        pool = self.rare if self.rare and self.chance.random() < 0.004 else self.overloads
        for _ in range(60):
            overload = self.chance.choice(pool)
            bound = Substitution()
            if not bound.assign(overload.result, wanted) or overload.result.kind in ("dyn",):
                continue
            given = {name: self.some_type() for name in overload.generic}
            parameters = [_concrete(bound.resolve(p), given) for p in overload.parameters]
            return self.apply(overload, parameters)
        return self.leaf(wanted)

    def apply(self, overload: Overload, parameters: list[CelType]) -> str:
        arguments = [self.argument(overload, i, p) for i, p in enumerate(parameters)]
        if overload.is_method:
            target, *rest = arguments
            target = f"({target})" if " " in target or target.startswith("-") else target
            return f"{target}.{overload.function}({', '.join(rest)})"
        return f"{overload.function}({', '.join(arguments)})"

    def argument(self, overload: Overload, index: int, parameter: CelType) -> str:
        chance = self.chance
        special = {
            "string_to_quantity": QUANTITIES * 4 + BAD_QUANTITIES,
            "is_quantity_string": QUANTITIES + BAD_QUANTITIES,
            "string_to_semver": VERSIONS * 4 + BAD_VERSIONS,
            "string_bool_to_semver": VERSIONS + BAD_VERSIONS,
            "is_semver_string": VERSIONS + BAD_VERSIONS,
            "string_to_ip": ADDRESSES,
            "is_ip": ADDRESSES,
            "ip_is_canonical": ADDRESSES,
            "string_to_cidr": NETWORKS,
            "is_cidr": NETWORKS,
            "string_to_url": URLS,
            "is_url_string": URLS,
            "string_to_duration": SPANS,
            "string_to_timestamp": MOMENTS,
            "format-named": ["dns1123Label", "uuid", "nope"],
        }.get(overload.id)
        if special is not None and index == 0 and chance.random() < 0.8:
            return quote(chance.choice(special))
        if (
            overload.function in ("matches", "find", "findAll")
            and index == 1
            and chance.random() < 0.7
        ):
            return quote(chance.choice(PATTERNS))
        if overload.id == "string_format":
            if index == 0:
                return quote(chance.choice(FORMATS))
            return (
                "["
                + ", ".join(self.leaf(self.some_type()) for _ in range(chance.randint(0, 3)))
                + "]"
            )
        if overload.id == "lists_range":
            return chance.choice(["0", "3", "10", "-1"])
        return self.expression(parameter)


def _all(functions: dict[str, tuple[Overload, ...]]) -> list[Overload]:
    return [o for overloads in functions.values() for o in overloads]


def _concrete(t: CelType, given: dict[str, CelType]) -> CelType:
    if t.kind == "parameter":
        return given.get(t.name, types.INT)
    return CelType(t.kind, t.name, tuple(_concrete(p, given) for p in t.parameters))


_ENVIRONMENTS: tuple[Environment, ...] = ("stored", "new")


def cases(minor: int, count: int, seed: int) -> list[Case]:
    """Return `count` cases for a minor version, divided evenly among its dialects."""
    dialects = [
        Dialect.of(
            features_of(minor).with_gates(list_attributes=lists, consumable_capacity=consumable),
            environment,
        )
        for environment in _ENVIRONMENTS
        for lists in ((False, True) if minor >= 36 else (False,))
        for consumable in (True, False)
    ]
    made: list[Case] = []
    for index, dialect in enumerate(dialects):
        generator = Generator(random.Random(f"{seed}/{minor}/{index}"), dialect)
        share = count // len(dialects) + (index < count % len(dialects))
        made += [generator.case(f"{seed}/{minor}/{index}/{n}") for n in range(share)]
    return made
