"""A portfolio file → the inputs of every stack and scenario, with every path read once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_command.inputs.command_inputs import mark_unrelated_files
from dra_command.inputs.fleets.shared_catalog import find_catalog_files
from dra_command.inputs.git_files import checked_out
from dra_planner.documents.tree import Location, line_at, path_text
from dra_planner.errors import Place, PlannerError, SourceError
from dra_planner.fleet import read_document
from dra_planner.portfolio.answers import CellFault
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.reading import PortfolioError, read_portfolio
from dra_planner.portfolio.schema import Placing, Portfolio, StackEntry
from dra_planner.sources import Source, read_file, read_sources

_WORKLOADS, _FLEET = "pulumi-dra:workloads", "pulumi-dra:fleet"
# maximum values in the document: ten thousand stacks, each with a name, files, and labels
_MOST_NODES = 2_000_000


class Collected(Struct, frozen=True, kw_only=True):
    """A portfolio with all inputs that it refers to. `labels` contains the labels of the clusters,
    by stack.
    """

    portfolio: Portfolio
    stacks: tuple[StackInputs, ...]
    labels: dict[str, dict[str, str]]
    futures: tuple[ScenarioInputs, ...]
    placed: tuple[tuple[Placing, tuple[Source, ...]], ...]


def collect(path: str) -> Collected:
    """Return the inputs that a portfolio file names. Raises PlannerError if the file, or a path of
    a scenario, is wrong. A stack that is missing or unreadable is returned with its error, and the
    other stacks are still planned.
    """
    data = read_document(read_file(path).text, path, most_nodes=_MOST_NODES)
    portfolio = read_portfolio(data, file=path)
    files = _Files(Path(path).parent)
    stacks: dict[str, StackInputs] = {}
    labels: dict[str, dict[str, str]] = {}
    for at, entry in enumerate(portfolio.stacks):
        place = Place(path, line_at(data, ("stacks", at)), f"stacks[{at}]")
        for inputs in files.stacks(entry, place):
            if inputs.name in stacks:
                raise PortfolioError(
                    f'two stacks are named "{inputs.name}"',
                    place=place,
                    fix="set a different `name` for one of the stacks",
                )
            stacks[inputs.name] = inputs
            labels[inputs.name] = {"name": inputs.name, **entry.labels}
    futures = []
    for at, scenario in enumerate(portfolio.all_scenarios):
        try:
            added = (
                files.sources(files.folder, scenario.add_workloads)
                if scenario.add_workloads
                else ()
            )
        except PlannerError as error:
            raise _at(("scenarios", at - 1, "addWorkloads"), error, data, path) from None
        futures.append(ScenarioInputs(scenario=scenario, added=added))
    placed = []
    for at, placing in enumerate(portfolio.place):
        try:
            placed.append((placing, files.sources(files.folder, placing.workloads)))
        except PlannerError as error:
            raise _at(("place", at, "workloads"), error, data, path) from None
    return Collected(
        portfolio=portfolio,
        stacks=tuple(stacks.values()),
        labels=labels,
        futures=tuple(futures),
        placed=tuple(placed),
    )


def _at(key: Location, error: PlannerError, data: object, path: str) -> PortfolioError:
    """Return the fault in a path of the portfolio, with its line."""
    where = Place(path, line_at(data, key), path_text(key))
    return PortfolioError(f"{error.place} {error.message}", place=where, fix=error.fix)


class _Files(Struct):
    """Reads files below the portfolio's folder, and reads each path only once. File names in
    messages are relative to this folder.
    """

    folder: Path
    _read: dict[tuple[str, ...], tuple[Source, ...]] = {}
    _catalogs: dict[Path, tuple[Source, ...]] = {}

    def stacks(self, entry: StackEntry, place: Place) -> Iterator[StackInputs]:
        """Yield the stacks of an entry. If no stack is found, yield one with this fault, named like
        the entry or its path.
        """
        root, prefix = self.folder, ""
        pattern = entry.stack or entry.fleet or ""
        try:
            if entry.git is not None:
                repository = (self.folder / entry.git.repository).resolve()
                root, prefix = (
                    checked_out(repository, str(entry.git.ref), place),
                    f"{entry.git.ref}:",
                )
            found = sorted(glob.glob(os.path.join(root, pattern), recursive=True))
            if not found:
                raise PortfolioError(
                    f'no file matches "{pattern}"',
                    place=place,
                    fix="use a path relative to this file",
                )
        except (PortfolioError, SourceError) as error:
            yield StackInputs(
                name=entry.name or pattern,
                settings=Source(pattern, ""),
                is_fleet=entry.fleet is not None,
                sources=(),
                fault=CellFault.of(error),
            )
            return
        if entry.name is not None and len(found) > 1:
            raise PortfolioError(
                f'`name` sets the same name, "{entry.name}", for {len(found)} stacks',
                place=place,
                fix="remove `name`, or match only one file",
            )
        for file in found:
            inputs = self._stack(entry, Path(file), root)
            yield inputs if not prefix else _renamed(inputs, prefix)

    def _stack(self, entry: StackEntry, file: Path, root: Path) -> StackInputs:
        settings, fault = Source(str(file), ""), None
        sources: tuple[Source, ...] = ()
        catalog: tuple[Source, ...] = ()
        is_fleet = entry.fleet is not None
        try:
            settings = read_file(file)
            catalog = self._catalog(file.parent, root)
            config = {} if is_fleet else _config_of(settings)
            project = file.parent.parent if file.parent.name == "stacks" else file.parent
            own = [] if entry.workloads else _own_workloads(config)
            if entry.workloads or own:
                sources = self.sources(project if own else root, own or list(entry.workloads))
            if isinstance(config.get(_FLEET), str):
                settings, is_fleet = read_file(project / config[_FLEET]), True
        except PlannerError as error:
            fault = CellFault.of(error)
        name = entry.name or (
            _fleet_name(file) if entry.fleet is not None else file.stem.removeprefix("Pulumi.")
        )
        named = replace(settings, name=os.path.relpath(settings.name, root))
        return StackInputs(
            name=name,
            settings=named,
            is_fleet=is_fleet,
            sources=sources,
            catalog=catalog,
            fault=fault,
        )

    def _catalog(self, folder: Path, root: Path) -> tuple[Source, ...]:
        """Return the catalog files of the project that contains a folder. Raises PlannerError."""
        if folder not in self._catalogs:
            found = find_catalog_files(str(folder))
            self._catalogs[folder] = tuple(
                replace(each, name=os.path.relpath(each.name, root))
                if os.path.exists(each.name)
                else each  # of a URL
                for each in found
            )
        return self._catalogs[folder]

    def sources(self, folder: Path, paths: Sequence[str]) -> tuple[Source, ...]:
        """Return the manifests at paths in a folder. Raises SourceError."""
        key = (str(folder), *paths)
        if key not in self._read:
            named = [os.path.join(folder, path) for path in paths]
            read, _ = mark_unrelated_files(read_sources(named), named, "plan")
            self._read[key] = tuple(
                replace(each, name=os.path.relpath(each.name, folder)) for each in read
            )
        return self._read[key]


def _config_of(settings: Source) -> Mapping[str, Any]:
    """Return the configuration in a stack's settings, or {} if there is none. Planning reports
    faults in the settings.
    """
    data = read_document(settings.text, settings.name)
    config = data.get("config") if isinstance(data, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def _own_workloads(config: Mapping[str, Any]) -> list[str]:
    """Return the workloads in a stack's settings, if they exist."""
    listed = config.get(_WORKLOADS)
    return (
        [path for path in listed if isinstance(path, str) and path]
        if isinstance(listed, list)
        else []
    )


def _fleet_name(file: Path) -> str:
    return file.parent.name if file.stem == "fleet" and file.parent.name else file.stem


def _renamed(inputs: StackInputs, prefix: str) -> StackInputs:
    """Return the inputs with the git ref in their file names."""
    return replace(
        inputs,
        settings=replace(inputs.settings, name=prefix + inputs.settings.name),
        sources=tuple(replace(each, name=prefix + each.name) for each in inputs.sources),
    )
