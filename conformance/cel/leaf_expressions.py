"""Generate random expressions without operators: literals, variables, and reads of the device."""

from __future__ import annotations

import random
from typing import Final

from dra_planner.cel import types
from dra_planner.cel.types import CelType
from vocabulary import (
    ADDRESSES,
    BAD_QUANTITIES,
    BAD_VERSIONS,
    DRIVER,
    MOMENTS,
    NAMES,
    NETWORKS,
    OTHER,
    PATTERNS,
    QUANTITIES,
    SPANS,
    TEXTS,
    URLS,
    VERSIONS,
    quote,
)

_LITERALS: Final = {
    "bool": ["true", "false", "device.allowMultipleAllocations", f'device.driver == "{DRIVER}"'],
    "int": [
        "0",
        "1",
        "-1",
        "2",
        "3",
        "9223372036854775807",
        "-9223372036854775808",
        "0x1F",
        "10",
        "48",
    ],
    "uint": ["0u", "1u", "18446744073709551615u", "3U"],
    "double": ["0.0", "1.5", "-2.5", "1e3", "3.0", ".5", "1e308", "9007199254740993.0"],
}
_TYPES: Final = ("int", "string", "bool", "type", "null_type")
_FORMS_OF_STRINGS: Final = [
    QUANTITIES,
    VERSIONS,
    ADDRESSES,
    NETWORKS,
    URLS,
    MOMENTS,
    SPANS,
    PATTERNS,
]
_MAPS: Final = [
    "device.attributes",
    "device.capacity",
    f'device.attributes["{DRIVER}"]',
    f'device.capacity["{DRIVER}"]',
    'device.attributes["none"]',
]


class Leaves:
    """Generates the leaves of expressions from a random source. `variables` are the variables in
    scope.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.variables: list[tuple[str, CelType]] = []

    def leaf(self, wanted: CelType) -> str:
        """Return a literal, a variable, or a read of the device."""
        chance = self.chance
        fitting = [name for name, t in self.variables if t == wanted or t.kind == "dyn"]
        if fitting and chance.random() < 0.6:
            return chance.choice(fitting)
        of_attribute = chance.random() < 0.3 and wanted.kind in ("bool", "int", "string", "list")
        if (of_attribute or wanted == types.SEMVER) and chance.random() < 0.8:
            return self.attribute()
        return self.literal(wanted)

    def literal(self, wanted: CelType) -> str:
        chance = self.chance
        match wanted.kind:
            case "bool" | "int" | "uint" | "double":
                return chance.choice(_LITERALS[wanted.kind])
            case "string":
                return self.string()
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
                elements = ", ".join(self.element(inner) for _ in range(chance.randint(0, 3)))
                return f"[{elements}{chance.choice(['', '', '', ','])}]"
            case "map":
                return self.map(*wanted.parameters)
            case "opaque" if wanted.name == "optional_type":
                return self.optional(wanted.parameters[0])
            case "object" | "opaque":
                return self.opaque(wanted)
            case "type":
                return chance.choice([*_TYPES, f"type({self.leaf(types.INT)})"])
            case _:
                return self.anything()

    def string(self) -> str:
        """Return a string literal, or sometimes the device's driver."""
        chance = self.chance
        if chance.random() < 0.15:
            return "device.driver"
        return quote(chance.choice(TEXTS + chance.choice(_FORMS_OF_STRINGS)))

    def map(self, key: CelType, value: CelType) -> str:
        """Return a map literal, or a map of the device."""
        chance = self.chance
        if chance.random() < 0.3 and key.kind in ("string", "dyn"):
            return chance.choice(_MAPS)
        entries = (f"{self.literal(key)}: {self.leaf(value)}" for _ in range(chance.randint(0, 2)))
        return f"{{{', '.join(entries)}}}"

    def anything(self) -> str:
        """Return a value of any type."""
        if self.chance.random() < 0.5:
            return self.leaf(
                self.chance.choice([types.INT, types.STRING, types.BOOL, types.DOUBLE])
            )
        return self.attribute()

    def element(self, inner: CelType) -> str:
        """Return an element of a list, which is sometimes optional."""
        return f"?{self.optional(inner)}" if self.chance.random() < 0.04 else self.leaf(inner)

    def opaque(self, wanted: CelType) -> str:
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
            return chance.choice(
                [
                    "format.dns1123Label()",
                    "format.uuid()",
                    "format.date()",
                    "format.qualifiedName()",
                ]
            )
        return self.attribute()

    def optional(self, inner: CelType) -> str:
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
            [
                "optional.none()",
                f"optional.of({self.leaf(inner)})",
                f"optional.ofNonZeroValue({self.leaf(inner)})",
            ]
        )

    def attribute(self) -> str:
        """Return a read of an attribute."""
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

    def chain(self) -> str:
        """Return nested reads of the device, some of which are optional, sometimes followed by
        further reads.
        """
        chance = self.chance
        text = "device"
        for name in (chance.choice(["attributes", "capacity"]), DRIVER, chance.choice(NAMES)):
            form = chance.random()
            if form < 0.3:
                text += (
                    f"[?{quote(name)}]"
                    if name != "attributes" and name != "capacity"
                    else f".?{name}"
                )
            elif form < 0.6 and "." not in name:
                text += f".?{name}"
            else:
                text += f".{name}" if "." not in name else f"[{quote(name)}]"
        return text + chance.choice(
            ["", f".{chance.choice(NAMES)}", f".?{chance.choice(NAMES)}.{chance.choice(NAMES)}"]
        )

    def capacity(self) -> str:
        """Return a read of a capacity."""
        return f'device.capacity["{DRIVER}"].{self.chance.choice(["memory", "memory", "cores", "missing"])}'

    def some_type(self) -> CelType:
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
                CelType("type", "type", (types.INT,)),
            ]
        )
