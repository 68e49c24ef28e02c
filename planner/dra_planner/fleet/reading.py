"""Text or plain data → a validated `Fleet`, with every fault placed at its line and field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from dra_planner.clouds import cloud
from dra_planner.documents.tree import Location, line_at
from dra_planner.documents.yaml_reader import Fault, Remark, read_json, read_yaml
from dra_planner.errors import FleetError, Place
from dra_planner.fleet.checks import check_together
from dra_planner.fleet.schema import Fleet
from dra_planner.fleet.values import Document
from dra_planner.sources import read_file

PROJECT = "pulumi-dra"
SETTINGS_OF_THE_PROGRAM = (f"{PROJECT}:securityGroup", f"{PROJECT}:admins")
"""What the program reads beside the fleet and the plan does not depend on: who RBAC may name on GKE."""
MOST_NODES = 100_000  # a fleet has some hundreds
_FIXES = {"ignored-text": "remove it: this file holds one document"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    """What a stack's file says: the fleet, and the paths of its workloads (relative to the project)."""

    fleet: Fleet
    workloads: tuple[str, ...]


def read_fleet(data: object, *, file: str = "") -> Fleet:
    """Return the fleet that plain data describes; raises FleetError listing every fault.

    `file` is for the places in the error, with the lines that data from `read_document` knows.
    """

    def fault(at: Location, message: str) -> FleetError:
        return FleetError(message, place=Place(file, line_at(data, at), _path(at)))

    if not isinstance(data, Mapping):
        raise fault((), f"the fleet must be a mapping of keys, not {_kind(data)}")
    try:
        fleet = Fleet.model_validate(data)
    except ValidationError as error:
        raise _together([fault(at, message) for at, message in _sentences(error, data)]) from None
    faults = [fault(at, message) for at, message in check_together(fleet)]
    if faults:
        raise _together(faults)
    return fleet


def read_document(text: str, file: str = "") -> Any:
    """Return the data of a YAML or JSON document, which knows its lines.

    Raises FleetError for text that is neither, and for what is hardly meant as it is read, such as a key twice.
    """
    try:
        read = read_json if text.lstrip().startswith("{") else read_yaml
        data, remarks = read(text, most_nodes=MOST_NODES)
    except Fault as fault:
        from dra_planner.documents.advice import advise  # only on the way to an error

        fix = fault.fix or advise(text.split("\n"), fault.line) or "correct the text at this line"
        raise FleetError(f"cannot be read as YAML: {fault.message}", place=Place(file, fault.line), fix=fix) from None
    if remarks:
        raise _together([_refuse(remark, file) for remark in remarks])
    return data


def _refuse(remark: Remark, file: str) -> FleetError:
    fix = _FIXES.get(remark.code, remark.fix)
    return FleetError(remark.message, place=Place(file, remark.line), fix=fix)


def read_fleet_file(path: Path) -> Fleet:
    """Return the fleet of a YAML or JSON file; raises PlannerError when it is missing, broken or wrong."""
    return read_fleet(_load(path), file=str(path))


def stack_file(stack: str, project: Path = Path()) -> Path:
    """Return the settings file of a stack; raises FleetError naming the stacks there are."""
    path = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        known = sorted(found.name[len("Pulumi.") : -len(".yaml")] for found in path.parent.glob("Pulumi.*.yaml"))
        from difflib import get_close_matches  # only on the way to an error

        nearest = get_close_matches(stack, known, 1)
        fix = f'did you mean "{nearest[0]}"? ' if nearest else ""
        raise FleetError(
            f'there is no stack "{stack}": {path} does not exist',
            fix=f"{fix}stacks here: {', '.join(known) or 'none'}",
        )
    return path


def read_stack(stack: str, project: Path = Path()) -> StackSettings:
    """Return the settings of `stacks/Pulumi.<stack>.yaml` below `project`; raises FleetError."""
    path = stack_file(stack, project)
    data = _load(path)
    config = data.get("config") if isinstance(data, Mapping) else None
    if not isinstance(config, Mapping):
        raise FleetError("the stack has no `config:` section", place=Place(str(path)))
    return read_settings(config, file=str(path))


def read_settings(config: Mapping[str, Any], *, file: str = "") -> StackSettings:
    """Return what a stack's configuration says, keys with their namespaces as in the file; raises FleetError."""

    def fault(key: str, message: str, fix: str = "") -> FleetError:
        return FleetError(message, place=Place(file, line_at(config, (key,)), f"config.{key}"), fix=fix)

    key = f"{PROJECT}:fleet"
    if key not in config:
        raise FleetError(f'the stack has no "{key}"', place=Place(file, 0, "config"), fix="describe the fleet there")
    fleet = read_fleet(config[key], file=file)
    workloads = config.get(f"{PROJECT}:workloads", [])
    if not isinstance(workloads, list) or not all(isinstance(item, str) and item for item in workloads):
        raise fault(f"{PROJECT}:workloads", "must be a list of paths", "write `[examples/workloads]`")
    region = cloud(fleet.cloud).region_setting
    if config.get(region) is not None and config[region] != fleet.region:
        raise fault(region, f'"{config[region]}" is not the fleet\'s region "{fleet.region}"', "make the two the same")
    known = (key, f"{PROJECT}:workloads", *SETTINGS_OF_THE_PROGRAM)
    unknown = [name for name in config if name.startswith(f"{PROJECT}:") and name not in known]
    if unknown:
        raise fault(unknown[0], "unknown setting", "known: " + ", ".join(f'"{name}"' for name in known))
    return StackSettings(fleet=fleet, workloads=tuple(workloads))


def _load(path: Path) -> Any:
    return read_document(read_file(path).text, str(path))


def _together(faults: list[FleetError]) -> FleetError:
    first, *others = faults
    return FleetError(first.message, place=first.place, fix=first.fix, others=tuple(others))


def _path(at: Location) -> str:
    text = ""
    for part in at:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _kind(value: object) -> str:
    names = {type(None): "nothing", str: "text", bool: "true or false", list: "a list", dict: "a mapping"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def _sentences(error: ValidationError, data: object) -> Iterator[tuple[Location, str]]:
    """Yield one fault for each place, in words; alternatives of a union that fail at one place become one."""
    told: dict[Location, list[str]] = {}
    for problem in error.errors(include_url=False):
        at = _document_location(problem["loc"], data)
        sentence = _sentence(problem)
        if sentence not in told.setdefault(at, []):
            told[at].append(sentence)
    for at, sentences in told.items():
        inside = any(len(other) > len(at) and other[: len(at)] == at for other in told)
        if not inside:  # what another alternative of a union would have wanted in place of a mapping
            yield at, " or ".join(sentences)


def _document_location(loc: Location, data: object) -> Location:
    """Drop the names that pydantic puts between fields for the alternatives of a union."""
    at: list[str | int] = []
    here: object = data
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if isinstance(here, Mapping) and isinstance(part, str) and (part in here or (last and _is_key(part))):
            at.append(part)
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            at.append(part)
            here = here[part]
    return tuple(at)


_ALTERNATIVES = ("literal[", "list[", "constrained", "function-", "int", "str", "bool")


def _is_key(part: str) -> bool:
    return part[:1].islower() and not part.startswith(_ALTERNATIVES)


_WORDS = {
    "string": "text",
    "int": "an integer",
    "bool": "true or false",
    "list": "a list",
    "model": "a mapping of keys",
    "dict": "a mapping of keys",
}


def _sentence(problem: Any) -> str:
    context = problem.get("ctx") or {}
    match problem["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown_key(problem["loc"])
        case "value_error":
            return str(context["error"])
        case "literal_error":
            choices = str(context["expected"]).replace("'", "").replace(" or ", ", ")
            one_of = "one of " if ", " in choices else ""
            return f"must be {one_of}{choices}, not {_shown(problem['input'])}"
        case kind if kind.endswith("_type"):
            wanted = kind.removesuffix("_type")
            return f"must be {_WORDS.get(wanted, wanted)}, not {_shown(problem['input'])}"
        case "string_pattern_mismatch":
            return f"{_shown(problem['input'])} is not a valid name: lower-case letters, digits and dashes"
        case _:
            message = str(problem["msg"])
            return f"{message[:1].lower()}{message[1:]}, not {_shown(problem['input'])}"


def _unknown_key(loc: Location) -> str:
    from difflib import get_close_matches

    key = str(loc[-1])
    nearest = get_close_matches(key, _known_keys(), 1)
    return "is not a key of the fleet" + (f'; did you mean "{nearest[0]}"?' if nearest else "")


def _known_keys() -> list[str]:
    parts = [Document]
    for part in parts:
        parts += part.__subclasses__()
    return sorted({to_camel(name) for part in parts for name in part.model_fields})


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    return _kind(value) if isinstance(value, dict | list | type(None)) else str(value)
