"""Random selectors and devices: well typed for the most part, ill typed now and then.

The generator walks the engine's own table of overloads, so that every function is called, and adds what is no function:
literals, reads of the device, macros, operators. A case is determined by its seed.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from dra_planner.cel import types
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.overloads import Overload, declared
from dra_planner.cel.types import Substitution, Type

DRIVER = "gpu.nvidia.com"
OTHER = "resource.kubernetes.io"
TEXTS = [
    "",
    "gpu",
    "a,b,,c",
    "Tesla",
    "NVIDIA H100 80GB HBM3",
    "grün",
    "MiXeD",
    "x y",
    "1g.10gb",
    "-1",
    "3",
    "1.5",
    "true",
]
QUANTITIES = ["80Gi", "81559Mi", "1", "1500m", "0", "1G", "0.5Gi", "40Gi", "1.5", "16Ei", "1e3", "-1", "100k", "2000m"]
BAD_QUANTITIES = ["40GB", "", "x", "1 Gi"]
VERSIONS = ["1.2.3", "550.54.15", "9.0.0", "12.4.0", "1.2.3-rc.1", "1.2.3+build.7", "0.0.0", "1.2.3-alpha.2"]
BAD_VERSIONS = ["1.2", "v1.2.3", "", "01.2.3", "1.2.x"]
PATTERNS = ["^a", "H[0-9]+", ".*", "", "(a|b)+", "[", "\\\\d{2}", "g$", "(?i)tesla"]
ADDRESSES = [
    "192.168.1.20",
    "10.0.0.1",
    "::1",
    "fe80::1",
    "2001:db8::1",
    "256.1.1.1",
    "224.0.0.1",
    "::ffff:1.2.3.4",
    "",
]
NETWORKS = ["192.168.1.0/24", "10.0.0.0/8", "::/0", "fe80::/10", "1.2.3.4/33", "192.168.1.20/32", "x/8"]
URLS = [
    "https://example.com:80/path?k=v&k=w",
    "/abs",
    "rel",
    "http://[::1]:443/",
    "https://a b",
    "ftp://u:p@h/x%20y",
    "",
]
MOMENTS = ["2026-01-02T03:04:05Z", "2020-02-29T23:59:59.123456789+02:00", "1969-12-31T00:00:00Z", "nope"]
SPANS = ["1h", "90m", "1.5s", "-3ms", "0", "100us", "1x"]
FORMATS = ["%s", "%d", "%s-%s", "%%", "%x", "%.2f", "a", "%b %o", "%s %s %s", "%q"]
NAMES = ["type", "index", "cc", "ver", "ok", "missing", "productName", "memory", "strs", "ints"]


@dataclass(frozen=True, slots=True)
class Case:
    """A selector with the devices it judges and the dialect it is read in."""

    identity: str
    expression: str
    dialect: Dialect
    devices: tuple[dict[str, Any], ...]


class Generator:
    """Makes the cases of one dialect from a source of chance."""

    def __init__(self, chance: random.Random, dialect: Dialect) -> None:
        self.chance = chance
        self.dialect = dialect
        self.overloads = [
            o
            for name, overloads in declared(dialect).items()
            for o in overloads
            if not name.startswith(("@", "_", "!", "-", "cel.@"))
            and not o.id.startswith(("authorizer", "groupcheck", "resourcecheck", "pathcheck", "decision"))
        ]
        self.rare = [o for o in _all(declared(dialect)) if o.id.startswith(("authorizer", "resourcecheck"))]
        self.variables: list[tuple[str, Type]] = []
        self.depth = 0
        self.wrong = 0.0

    # -- cases

    def case(self, identity: str) -> Case:
        """A case of its own."""
        self.variables, self.depth = [], 0
        self.wrong = self.chance.choice([0, 0, 0, 0.02, 0.06])
        expression = self.bool_top()
        if self.chance.random() < 0.03:
            expression = self.damage(expression)
        return Case(identity, expression, self.dialect, tuple(self.device() for _ in range(3)))

    def damage(self, text: str) -> str:
        """The text with a character changed."""
        at = self.chance.randrange(len(text) + 1)
        return (
            text[:at]
            + self.chance.choice(["", "(", ")", ".", "?", "'", "!", "0", " ", "-", "[", "&", "a", ",", "`"])
            + text[at + self.chance.randint(0, 1) :]
        )

    def bool_top(self) -> str:
        if self.chance.random() < 0.1:
            return self.attribute()
        return self.expression(types.BOOL)

    # -- expressions by type

    def expression(self, wanted: Type) -> str:
        """An expression of the type, or (seldom) of another."""
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
                return f"dyn({self.expression(self.some_type())})" if self.chance.random() < 0.3 else self.leaf(wanted)
            if roll < 0.66:
                return f"({self.expression(types.BOOL)} ? {self.expression(wanted)} : {self.expression(wanted)})"
            return self.call(wanted)
        finally:
            self.depth -= 1

    def leaf(self, wanted: Type) -> str:
        """A literal, a variable or a read of the device."""
        chance = self.chance
        fitting = [name for name, t in self.variables if t == wanted or t.kind == "dyn"]
        if fitting and chance.random() < 0.6:
            return chance.choice(fitting)
        of_attribute = chance.random() < 0.3 and wanted.kind in ("bool", "int", "string", "list")
        if (of_attribute or wanted == types.SEMVER) and chance.random() < 0.8:
            return self.attribute()
        return self.literal(wanted)

    def literal(self, wanted: Type) -> str:
        chance = self.chance
        match wanted.kind:
            case "bool":
                return chance.choice(
                    ["true", "false", "device.allowMultipleAllocations", f'device.driver == "{DRIVER}"']
                )
            case "int":
                return chance.choice(
                    ["0", "1", "-1", "2", "3", "9223372036854775807", "-9223372036854775808", "0x1F", "10", "48"]
                )
            case "uint":
                return chance.choice(["0u", "1u", "18446744073709551615u", "3U"])
            case "double":
                return chance.choice(["0.0", "1.5", "-2.5", "1e3", "3.0", ".5", "1e308", "9007199254740993.0"])
            case "string":
                if chance.random() < 0.15:
                    return "device.driver"
                return quote(
                    chance.choice(
                        TEXTS
                        + chance.choice([QUANTITIES, VERSIONS, ADDRESSES, NETWORKS, URLS, MOMENTS, SPANS, PATTERNS])
                    )
                )
            case "bytes":
                return "b" + quote(chance.choice(["", "a", "abc", "\\xff"]).replace("\\xff", "é"))
            case "null":
                return "null"
            case "duration":
                return f"duration({quote(chance.choice(SPANS))})"
            case "timestamp":
                return f"timestamp({quote(chance.choice(MOMENTS))})"
            case "list":
                inner = wanted.parameters[0]
                return (
                    "["
                    + ", ".join(self.leaf(inner) for _ in range(chance.randint(0, 3)))
                    + chance.choice(["", "", "", ","])
                    + "]"
                )
            case "map":
                key, value = wanted.parameters
                if chance.random() < 0.3 and key.kind in ("string", "dyn"):
                    return chance.choice(
                        [
                            "device.attributes",
                            "device.capacity",
                            f'device.attributes["{DRIVER}"]',
                            f'device.capacity["{DRIVER}"]',
                            'device.attributes["none"]',
                        ]
                    )
                return (
                    "{"
                    + ", ".join(f"{self.literal(key)}: {self.leaf(value)}" for _ in range(chance.randint(0, 2)))
                    + "}"
                )
            case "object":
                return self.opaque(wanted)
            case "opaque":
                if wanted.name == "optional_type":
                    return self.optional(wanted.parameters[0])
                return self.opaque(wanted)
            case "type":
                return chance.choice(["int", "string", "bool", "type", "null_type", f"type({self.leaf(types.INT)})"])
            case _:
                return (
                    self.leaf(self.chance.choice([types.INT, types.STRING, types.BOOL, types.DOUBLE]))
                    if self.chance.random() < 0.5
                    else self.attribute()
                )

    def opaque(self, wanted: Type) -> str:
        chance = self.chance
        if wanted == types.QUANTITY:
            if chance.random() < 0.4:
                return self.capacity()
            return f"quantity({quote(chance.choice(QUANTITIES * 4 + BAD_QUANTITIES))})"
        if wanted == types.SEMVER:
            return f"semver({quote(chance.choice(VERSIONS * 4 + BAD_VERSIONS))})"
        if wanted == types.URL:
            return f"url({quote(chance.choice(URLS))})"
        if wanted == types.IP:
            return f"ip({quote(chance.choice(ADDRESSES))})"
        if wanted == types.CIDR:
            return f"cidr({quote(chance.choice(NETWORKS))})"
        if wanted == types.FORMAT:
            return chance.choice(["format.dns1123Label()", "format.uuid()", "format.date()", "format.qualifiedName()"])
        return self.attribute()

    def optional(self, inner: Type) -> str:
        chance = self.chance
        if chance.random() < 0.4:
            name = chance.choice(NAMES)
            return chance.choice(
                [
                    f'device.attributes["{DRIVER}"].?{name}',
                    f'device.attributes[?"{DRIVER}"].{name}',
                    f'device.attributes["{DRIVER}"][?"{name}"]',
                    f'device.capacity["{DRIVER}"].?memory',
                ]
            )
        return chance.choice(
            ["optional.none()", f"optional.of({self.leaf(inner)})", f"optional.ofNonZeroValue({self.leaf(inner)})"]
        )

    def attribute(self) -> str:
        """A read of an attribute."""
        chance = self.chance
        domain = chance.choice([DRIVER, DRIVER, DRIVER, OTHER, "none"])
        name = chance.choice(NAMES)
        form = chance.random()
        if form < 0.6:
            return f'device.attributes["{domain}"].{name}'
        if form < 0.8:
            return f'device.attributes["{domain}"]["{name}"]'
        if form < 0.85:
            return f"device.attributes[device.driver].{name}"
        if form < 0.9:
            return f"device.attributes.none.{name}"
        return f'device.attributes["{domain}"].?{name}.orValue({self.leaf(types.INT)})'

    def capacity(self) -> str:
        """A read of a capacity."""
        return f'device.capacity["{DRIVER}"].{self.chance.choice(["memory", "memory", "cores", "missing"])}'

    # -- operators, macros, calls

    def operator(self, wanted: Type) -> str:
        chance = self.chance
        if wanted == types.BOOL:
            roll = chance.random()
            if roll < 0.4:
                return f"({self.expression(types.BOOL)} {chance.choice(['&&', '||'])} {self.expression(types.BOOL)})"
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
                b = a if chance.random() < 0.7 else chance.choice([types.INT, types.UINT, types.DOUBLE])
                return f"{self.operand(a)} {chance.choice(['<', '<=', '>', '>='])} {self.operand(b)}"
            if roll < 0.9:
                return f"{self.operand(t)} in {self.operand(types.list_of(t))}"
            if roll < 0.93:
                scalar = chance.choice([types.INT, types.STRING, types.DOUBLE, types.UINT, types.BOOL, types.BYTES])
                return f"{self.attribute()} in {self.literal(types.list_of(scalar))}"
            if roll < 0.97:
                return f"has({self.attribute()})"
            return f"{self.operand(types.STRING)} in {self.operand(types.map_of(types.STRING, types.INT))}"
        if wanted in (types.INT, types.UINT, types.DOUBLE):
            operator = chance.choice("+-*/" if wanted == types.DOUBLE else "+-*/%")
            return f"({self.expression(wanted)} {operator} {self.expression(wanted)})"
        if wanted in (types.STRING, types.BYTES, types.DURATION) or wanted.kind == "list":
            return f"({self.expression(wanted)} + {self.expression(wanted)})"
        return self.leaf(wanted)

    def operand(self, t: Type) -> str:
        text = self.expression(t)
        return f"({text})" if any(c in text for c in "<>=?&|") or " in " in text else text

    def macro(self, wanted: Type) -> str:
        chance = self.chance
        if chance.random() < 0.3:
            bound = self.some_type()
            name = self.fresh()
            value = self.operand(bound)
            return f"cel.bind({name}, {value}, {self.within([(name, bound)], wanted)})"
        over, variables = self.range(two=chance.random() < 0.3)
        names = ", ".join(name for name, _ in variables)
        if wanted == types.BOOL:
            form = chance.choice(["exists", "all", "exists_one", "existsOne"])
            return f"{over}.{form}({names}, {self.within(variables, types.BOOL)})"
        if wanted.kind == "list" and len(variables) == 1:
            if chance.random() < 0.3 and variables[0][1] == wanted.parameters[0]:
                return f"{over}.filter({names}, {self.within(variables, types.BOOL)})"
            condition = f"{self.within(variables, types.BOOL)}, " if chance.random() < 0.3 else ""
            return f"{over}.map({names}, {condition}{self.within(variables, wanted.parameters[0])})"
        if wanted.kind == "list":
            return f"{over}.transformList({names}, {self.within(variables, wanted.parameters[0])})"
        if wanted.kind == "map" and len(variables) == 2:
            return f"{over}.transformMap({names}, {self.within(variables, wanted.parameters[1])})"
        if wanted.kind == "opaque" and wanted.name == "optional_type":
            inner = self.some_type()
            name = self.fresh()
            return f"{self.optional(inner)}.optMap({name}, {self.within([(name, types.DYN)], wanted.parameters[0])})"
        return self.call(wanted)

    def range(self, two: bool) -> tuple[str, list[tuple[str, Type]]]:
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
            return over, [(first, types.STRING), (second, value)] if two else [(first, types.STRING)]
        element = chance.choice([types.INT, types.STRING, types.DOUBLE, types.BOOL])
        over = self.operand(types.list_of(element))
        return over, [(first, types.INT), (second, element)] if two else [(first, element)]

    def within(self, variables: list[tuple[str, Type]], wanted: Type) -> str:
        self.variables.extend(variables)
        try:
            return self.expression(wanted)
        finally:
            del self.variables[len(self.variables) - len(variables) :]

    def fresh(self) -> str:
        return self.chance.choice(["x", "y", "z", "k", "v", "d"]) + str(len(self.variables) + self.chance.randint(0, 2))

    def some_type(self) -> Type:
        return self.chance.choice(
            [
                types.INT,
                types.STRING,
                types.BOOL,
                types.DOUBLE,
                types.QUANTITY,
                types.SEMVER,
                types.UINT,
                types.list_of(types.INT),
                types.list_of(types.STRING),
                types.DYN,
                types.IP,
                types.DURATION,
                types.map_of(types.STRING, types.INT),
                types.NULL,
                types.optional_of(types.INT),
                types.URL,
                types.CIDR,
                types.BYTES,
                types.TIMESTAMP,
                Type("type", "type", (types.INT,)),
            ]
        )

    def call(self, wanted: Type) -> str:
        """A call of a function whose result is of the type."""
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

    def apply(self, overload: Overload, parameters: list[Type]) -> str:
        arguments = [self.argument(overload, i, p) for i, p in enumerate(parameters)]
        if overload.is_method:
            target, *rest = arguments
            target = f"({target})" if " " in target or target.startswith("-") else target
            return f"{target}.{overload.function}({', '.join(rest)})"
        return f"{overload.function}({', '.join(arguments)})"

    def argument(self, overload: Overload, index: int, parameter: Type) -> str:
        chance = self.chance
        special = {
            "string_to_quantity": QUANTITIES * 4 + BAD_QUANTITIES, "is_quantity_string": QUANTITIES + BAD_QUANTITIES,
            "string_to_semver": VERSIONS * 4 + BAD_VERSIONS, "string_bool_to_semver": VERSIONS + BAD_VERSIONS,
            "is_semver_string": VERSIONS + BAD_VERSIONS, "string_to_ip": ADDRESSES, "is_ip": ADDRESSES,
            "ip_is_canonical": ADDRESSES, "string_to_cidr": NETWORKS, "is_cidr": NETWORKS, "string_to_url": URLS,
            "is_url_string": URLS, "string_to_duration": SPANS, "string_to_timestamp": MOMENTS,
            "format-named": ["dns1123Label", "uuid", "nope"],
        }.get(overload.id)  # fmt: skip
        if special is not None and index == 0 and chance.random() < 0.8:
            return quote(chance.choice(special))
        if overload.function in ("matches", "find", "findAll") and index == 1 and chance.random() < 0.7:
            return quote(chance.choice(PATTERNS))
        if overload.id == "string_format":
            if index == 0:
                return quote(chance.choice(FORMATS))
            return "[" + ", ".join(self.leaf(self.some_type()) for _ in range(chance.randint(0, 3))) + "]"
        if overload.id == "lists_range":
            return chance.choice(["0", "3", "10", "-1"])
        return self.expression(parameter)

    # -- devices

    def device(self) -> dict[str, Any]:
        """A device in API form."""
        chance = self.chance
        attributes: dict[str, Any] = {}
        for name in NAMES:
            if name == "missing" or chance.random() < 0.35:
                continue
            attributes[name] = self.value(name)
        if chance.random() < 0.5:
            attributes[f"{OTHER}/type"] = {"string": "pci0000:17"}
        capacity = {"memory": chance.choice(QUANTITIES)} if chance.random() < 0.8 else {}
        if chance.random() < 0.5:
            capacity["cores"] = chance.choice(QUANTITIES)
        device: dict[str, Any] = {
            "driver": chance.choice([DRIVER, DRIVER, DRIVER, "dra.net"]),
            "attributes": attributes,
            "capacity": capacity,
        }
        if chance.random() < 0.3:
            device["allowMultipleAllocations"] = chance.random() < 0.5
        return device

    def value(self, name: str) -> dict[str, Any]:
        chance = self.chance
        if name in ("strs", "ints") and self.dialect.reads_list_attributes and chance.random() < 0.8:
            return {"strings": ["a", "gpu"]} if name == "strs" else {"ints": [1, 2, 3]}
        kind = chance.choice(["string", "string", "int", "bool", "version"])
        if kind == "string":
            return {"string": chance.choice(TEXTS)}
        if kind == "int":
            return {"int": chance.choice([0, 1, 3, -1, 9223372036854775807])}
        if kind == "bool":
            return {"bool": chance.random() < 0.5}
        return {"version": chance.choice(VERSIONS)}


def _all(functions: dict[str, tuple[Overload, ...]]) -> list[Overload]:
    return [o for overloads in functions.values() for o in overloads]


def _concrete(t: Type, given: dict[str, Type]) -> Type:
    if t.kind == "parameter":
        return given.get(t.name, types.INT)
    return Type(t.kind, t.name, tuple(_concrete(p, given) for p in t.parameters))


def quote(text: str) -> str:
    """The text as a literal."""
    return json.dumps(text, ensure_ascii=False)


def cases(minor: int, count: int, seed: int) -> list[Case]:
    """So many cases for a minor, over its dialects, in an order in which dialects come together."""
    dialects = [
        Dialect(minor, environment, lists, consumable)
        for environment in ("stored", "new")
        for lists in ((False, True) if minor >= 36 else (False,))
        for consumable in (True, False)
    ]
    made: list[Case] = []
    for index, dialect in enumerate(dialects):
        generator = Generator(random.Random(f"{seed}/{minor}/{index}"), dialect)
        share = count // len(dialects) + (index < count % len(dialects))
        made += [generator.case(f"{seed}/{minor}/{index}/{n}") for n in range(share)]
    return made
