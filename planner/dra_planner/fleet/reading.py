"""Read a validated `Fleet` from text or plain data, with the line and the field of every fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from dra_planner.clouds import cloud
from dra_planner.documents.json_reader import read_json
from dra_planner.documents.models import StrictDocument
from dra_planner.documents.tree import Location, line_at, path_text
from dra_planner.documents.validation import kind_of, sentences
from dra_planner.documents.yaml_advice import advise
from dra_planner.documents.yaml_reader import Fault, Remark, read_yaml
from dra_planner.errors import FleetError, Place
from dra_planner.fleet.checks import check_together
from dra_planner.fleet.learned_machines import CatalogFile, LearnedMachine
from dra_planner.fleet.platform_options import check_option_names
from dra_planner.fleet.required_keys import what_to_write
from dra_planner.fleet.schema import Fleet
from dra_planner.sources import read_file
from dra_planner.wording import use_one_of

PROJECT = "pulumi-dra"
SETTINGS_OF_THE_PROGRAM = (f"{PROJECT}:securityGroup", f"{PROJECT}:admins", f"{PROJECT}:platform")
"""Keys of a stack's file that affect neither the fleet nor the plan, because they are inputs of its
platform.
"""
MOST_NODES = 100_000  # a fleet has a few hundred values
_FIXES = {"ignored-text": "remove this document, because the file must contain only one document"}


class StackSettings(Struct, frozen=True, kw_only=True):
    """Contents of a stack's file: the fleet, and the paths of its workloads (relative to the
    project).
    """

    fleet: Fleet
    workloads: tuple[str, ...]


def read_fleet(data: object, *, file: str = "", catalog: Sequence[LearnedMachine] = ()) -> Fleet:
    """Return the fleet in plain data.

    Raises FleetError with every fault. `file` is the file name for places in the error, with the
    lines of data from `read_document`. `catalog` are machine types that were learned for several
    fleets.
    """
    fault = partial(_fault, file, data)
    if not isinstance(data, Mapping):
        raise fault((), f"the fleet must be a mapping, not {kind_of(data)}")
    try:
        fleet = Fleet.model_validate(data)
    except ValidationError as error:
        wanted = partial(what_to_write, data=data)
        problems = sentences(
            error,
            data,
            document="the fleet",
            keys=_known_keys(),
            what_to_write=wanted,
            paths_of=_paths_of,
        )
        raise _together([fault(at, message) for at, message in problems]) from None
    fleet = with_catalog(fleet, catalog)
    faults = [fault(at, message) for at, message in check_together(fleet)]
    if faults:
        raise _together(faults)
    return fleet


def parse_catalog(data: object, *, file: str = "") -> tuple[LearnedMachine, ...]:
    """Return the machine types of a catalog file, as read by `read_document`. Raises FleetError
    with every fault.
    """
    fault = partial(_fault, file, data)
    if not isinstance(data, Mapping):
        raise fault(
            (),
            f"a catalog must be a mapping with the key catalog, not {kind_of(data)}; use the "
            "output of `pulumi-dra catalog add`",
        )
    try:
        return tuple(CatalogFile.model_validate(data).catalog)
    except ValidationError as error:
        problems = sentences(error, data, document="the catalog", keys=["catalog"])
        raise _together([fault(at, message) for at, message in problems]) from None


def with_catalog(fleet: Fleet, rows: Sequence[LearnedMachine]) -> Fleet:
    """Return the fleet with the catalog rows for the machine types that it uses.

    The fleet's own rows take precedence, and later rows take precedence over earlier ones.
    """
    own = {row.machine for row in fleet.catalog}
    machines = [fleet.system_pool.machine, *(pool.machine for pool in fleet.pools)]
    used = {name.partition("+")[0] for name in machines} - own
    added = {row.machine: row for row in rows if row.machine in used}
    if not added:
        return fleet
    return fleet.model_copy(update={"catalog": [*fleet.catalog, *added.values()]})


def _fault(file: str, data: object, at: Location, sentence: str) -> FleetError:
    message, _, fix = sentence.partition("; ")  # the problem, and its fix
    return FleetError(message, place=Place(file, line_at(data, at), path_text(at)), fix=fix)


def read_document(text: str, file: str = "", *, most_nodes: int = MOST_NODES) -> Any:
    """Return the data of a YAML or JSON document, with its lines.

    The document can have up to this number of nodes. Raises FleetError for other text, and for
    probable mistakes such as a duplicate key.
    """
    try:
        data, remarks = _reader_of(text)(text, most_nodes=most_nodes)
    except Fault as fault:
        fix = fault.fix or advise(text.split("\n"), fault.line) or "correct the YAML on this line"
        raise FleetError(
            f"can't be read as YAML: {fault.message}", place=Place(file, fault.line), fix=fix
        ) from None
    if remarks:
        raise _together([_refuse(remark, file) for remark in remarks])
    return data


def _reader_of(text: str) -> Callable[..., tuple[Any, list[Remark]]]:
    if not text.lstrip().startswith("{"):
        return read_yaml
    return read_json


def _refuse(remark: Remark, file: str) -> FleetError:
    fix = _FIXES.get(remark.code, remark.fix)
    return FleetError(remark.message, place=Place(file, remark.line), fix=fix)


def read_fleet_file(path: Path, catalog: Sequence[LearnedMachine] = ()) -> Fleet:
    """Return the fleet of a YAML or JSON file. Raises PlannerError if it's missing or invalid."""
    return read_fleet(_load(path), file=str(path), catalog=catalog)


def stack_names(project: Path = Path()) -> tuple[str, ...]:
    """Return the sorted names of the stacks below `project`."""
    found = (project / "stacks").glob("Pulumi.*.yaml")
    return tuple(sorted(each.name[len("Pulumi.") : -len(".yaml")] for each in found))


def stack_file(stack: str, project: Path = Path()) -> Path:
    """Return the settings file of a stack.

    Raises FleetError with the existing stacks if it isn't found.
    """
    path = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        known = stack_names(project)
        nearest = get_close_matches(stack, known, 1)
        above = next((each for each in project.resolve().parents if stack_names(each)), None)
        if nearest:
            fix = f'did you mean "{nearest[0]}"?'
        elif known:
            fix = use_one_of("stack", known)
        else:
            fix = f"run the command in {above or 'the project folder'}, or pass --fleet FILE"
        raise FleetError(f'stack "{stack}" doesn\'t exist (no file {path})', fix=fix)
    return path


RemoteFleet = Callable[[str], Fleet]
"""Returns the fleet at a URL. Raises PlannerError if it can't be read."""


def is_url(text: str) -> bool:
    """Return whether a fleet's location is a URL instead of a path."""
    return text.startswith(("git+", "https://", "http://", "oci://"))


def read_stack(
    stack: str,
    project: Path = Path(),
    remote_fleet: RemoteFleet | None = None,
    catalog: Sequence[LearnedMachine] = (),
) -> StackSettings:
    """Return the settings of `stacks/Pulumi.<stack>.yaml` below `project`. See `read_settings`."""
    path = stack_file(stack, project)
    data = _load(path)
    config = data.get("config") if isinstance(data, Mapping) else None
    if not isinstance(config, Mapping):
        raise FleetError("the stack doesn't have a `config:` section", place=Place(str(path)))
    return read_settings(
        config, file=str(path), project=project, remote_fleet=remote_fleet, catalog=catalog
    )


def read_settings(
    config: Mapping[str, Any],
    *,
    file: str = "",
    project: Path | None = None,
    remote_fleet: RemoteFleet | None = None,
    catalog: Sequence[LearnedMachine] = (),
) -> StackSettings:
    """Return the settings in a stack's configuration, whose keys have namespaces as in the file.

    The fleet can be a file relative to `project`, or a URL, which `remote_fleet` reads. Raises
    FleetError, and SourceError if the file can't be read.
    """

    def fault(key: str, message: str, fix: str = "") -> FleetError:
        return FleetError(
            message, place=Place(file, line_at(config, (key,)), f"config.{key}"), fix=fix
        )

    key = f"{PROJECT}:fleet"
    if key not in config:
        raise FleetError(
            f'the stack doesn\'t have the key "{key}"',
            place=Place(file, 0, "config"),
            fix="add the key, and describe the fleet under it",
        )
    stated = config[key]
    if not isinstance(stated, str):
        fleet = read_fleet(stated, file=file, catalog=catalog)
    elif is_url(stated):
        if remote_fleet is None:
            raise fault(
                key,
                "is a URL, which a stack's settings don't support",
                "use a file path, or define the fleet inline",
            )
        fleet = remote_fleet(stated)
    else:
        if project is None:
            raise fault(
                key,
                "is a file name, but the project folder is unknown",
                "define the fleet inline",
            )
        fleet = read_fleet_file(project / stated, catalog)
    _check_other_settings(config, fleet, file, fault)
    return StackSettings(fleet=fleet, workloads=tuple(config.get(f"{PROJECT}:workloads", [])))


def _check_other_settings(
    config: Mapping[str, Any],
    fleet: Fleet,
    file: str,
    fault: Callable[[str, str, str], FleetError],
) -> None:
    """Raise FleetError for invalid workloads, names that aren't platform options, a region that
    differs from the fleet's region, and unknown keys.
    """
    platform = f"{PROJECT}:platform"
    check_option_names(config.get(platform), file=file, at=f"config.{platform}")
    workloads = config.get(f"{PROJECT}:workloads", [])
    if not isinstance(workloads, list) or not all(
        isinstance(item, str) and item for item in workloads
    ):
        raise fault(
            f"{PROJECT}:workloads",
            "must be a list of paths",
            "use, for example, `[examples/workloads]`",
        )
    region = cloud(fleet.cloud).region_setting
    if config.get(region) is not None and config[region] != fleet.region:
        raise fault(
            region,
            f'"{config[region]}" differs from the fleet\'s region "{fleet.region}"',
            "use the same region in both places",
        )
    known = (f"{PROJECT}:fleet", f"{PROJECT}:workloads", *SETTINGS_OF_THE_PROGRAM)
    unknown = [name for name in config if name.startswith(f"{PROJECT}:") and name not in known]
    if unknown:
        raise fault(
            unknown[0],
            "unknown setting",
            "use one of these keys: " + ", ".join(f'"{name}"' for name in known),
        )


def _load(path: Path) -> Any:
    return read_document(read_file(path).text, str(path))


def _together(faults: list[FleetError]) -> FleetError:
    first, *others = faults
    return FleetError(first.message, place=first.place, fix=first.fix, others=tuple(others))


def _paths_of(key: str) -> list[str]:
    """Return the paths at which a fleet can have a key, such as pools[].machine, without the rows
    that `catalog add` prints.
    """
    schema = Fleet.model_json_schema()
    paths = _paths(schema, schema["$defs"])
    return [
        path for path in paths if path.rpartition(".")[2] == key and not path.startswith("catalog[")
    ]


def _paths(part: Mapping[str, Any], parts: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the paths of all keys in a part of a schema, with [] after the keys of lists."""
    name = str(part.get("$ref", "")).rpartition("/")[2]
    if name:
        yield from _paths(parts[name], parts, above)
    for choice in part.get("anyOf", ()):
        yield from _paths(choice, parts, above)
    if "items" in part:
        yield from _paths(part["items"], parts, f"{above}[]")
    for key, value in part.get("properties", {}).items():
        path = f"{above}.{key}" if above else key
        yield path
        yield from _paths(value, parts, path)


def _known_keys() -> list[str]:
    parts = [StrictDocument]
    for part in parts:
        parts += part.__subclasses__()
    return sorted({to_camel(name) for part in parts for name in part.model_fields})
