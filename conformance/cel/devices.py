"""Random devices."""

from __future__ import annotations

import random
from typing import Any

from dra_planner.cel.dialect import Dialect
from vocabulary import DRIVER, NAMES, OTHER, QUANTITIES, TEXTS, VERSIONS


def device(chance: random.Random, dialect: Dialect) -> dict[str, Any]:
    """Return a random device as an API object."""
    attributes: dict[str, Any] = {}
    for name in NAMES:
        if name == "missing" or chance.random() < 0.35:
            continue
        attributes[name] = _value(name, chance, dialect)
    if chance.random() < 0.5:
        attributes[f"{OTHER}/type"] = {"string": "pci0000:17"}
    capacity = {"memory": chance.choice(QUANTITIES)} if chance.random() < 0.8 else {}
    if chance.random() < 0.5:
        capacity["cores"] = chance.choice(QUANTITIES)
    made: dict[str, Any] = {
        "driver": chance.choice([DRIVER, DRIVER, DRIVER, "dra.net"]),
        "attributes": attributes,
        "capacity": capacity,
    }
    if chance.random() < 0.3:
        made["allowMultipleAllocations"] = chance.random() < 0.5
    return made


def _value(name: str, chance: random.Random, dialect: Dialect) -> dict[str, Any]:
    if name in ("strs", "ints") and dialect.reads_list_attributes and chance.random() < 0.8:
        return {"strings": ["a", "gpu"]} if name == "strs" else {"ints": [1, 2, 3]}
    kind = chance.choice(["string", "string", "int", "bool", "version"])
    if kind == "string":
        return {"string": chance.choice(TEXTS)}
    if kind == "int":
        return {"int": chance.choice([0, 1, 3, -1, 9223372036854775807])}
    if kind == "bool":
        return {"bool": chance.random() < 0.5}
    return {"version": chance.choice(VERSIONS)}
