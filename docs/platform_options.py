"""The options of DraPlatform, made of the inputs of each cloud's components: a module, so that
schemas have sentences.

Pulumi's analyzer reads the sentences of a class from its own source, so a class of inputs can
inherit none. What a component says of an input is written once, in its folder; what a platform
takes of it is everything that it does not set itself (`options.py` of the folder).
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from pulumi_dra.cloud_folders import cloud_folders

PAGE = "components/pulumi_dra/platform/platform_options.py"
_WIDTH = 100
_OPTIONAL = "NotRequired["
_HEAD = '''"""What DraPlatform takes beside the fleet; `make docs` writes this of the components' inputs."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict
'''


class Said(Struct, frozen=True, kw_only=True):
    """What a component says of an input."""

    hint: str  # its type, as the source has it
    says: str
    modules: Mapping[str, str]  # names in the hint → where they are imported from; "" for a module


def text() -> str:
    """Return the module; raises ValueError where an input is not said, or of different types in two
    clouds.
    """
    folders = {name: import_module(f"pulumi_dra.{name}.options") for name in cloud_folders()}
    titles = {name: cloud(name).title for name in folders}
    driver = import_module("pulumi_dra.dra.nvidia.options")
    parts = (
        (
            "ClusterOptions",
            "Cluster options that aren't part of the fleet.",
            {
                titles[name]: _options(of.CLUSTER_INPUTS, of.CLUSTER_SET, of.DEFAULTS)
                for name, of in folders.items()
            },
        ),
        (
            "PoolOptions",
            "Pool options that aren't part of the fleet.",
            {
                titles[name]: _options(of.POOL_INPUTS, of.POOL_SET, of.DEFAULTS)
                for name, of in folders.items()
            },
        ),
        (
            "DriverOptions",
            "DRA driver options that aren't part of the fleet.",
            {"": _plain(_options(driver.DRIVER_INPUTS, driver.DRIVER_SET, {}))},
        ),
    )
    modules: dict[str, str] = {}
    classes = [_class(name, says, options, modules) for name, says, options in parts]
    return "\n\n".join([_HEAD + "\n" + _imports(modules), *classes])


def _options(
    inputs: Iterable[type], is_set: Mapping[str, str], defaults: Mapping[str, str]
) -> dict[str, Said]:
    """Return what is no input of the platform's own; the first component that has an input says
    what it means.

    `defaults` are those of options that a platform has others for.
    """
    said: dict[str, Said] = {}
    for each in inputs:
        said = {**_said(each), **said}
    for name in said.keys() & defaults.keys():
        says, _, _ = said[name].says.rpartition(" Default")
        said[name] = replace(said[name], says=f"{says} Default: {defaults[name]}.")
    return {name: each for name, each in said.items() if name not in is_set}


def _said(inputs: type) -> dict[str, Said]:
    """Return the inputs of a component with what its source says of them."""
    body = next(
        each for each in ast.parse(inspect.getsource(inputs)).body if isinstance(each, ast.ClassDef)
    )
    names = vars(sys.modules[inputs.__module__])
    found: dict[str, Said] = {}
    for field, doc in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if not isinstance(doc, ast.Expr):
                raise ValueError(f"{inputs.__name__}.{field.target.id} is not said")
            hint, says = (
                ast.unparse(field.annotation),
                " ".join(str(ast.literal_eval(doc.value)).split()),
            )
            if not hint.startswith(_OPTIONAL):
                hint, says = f"{_OPTIONAL}{hint}]", f"{says} Required on this cloud."
            found[field.target.id] = Said(
                hint=hint, says=says, modules=_modules(field.annotation, names)
            )
    return found


def _modules(hint: ast.expr, names: Mapping[str, Any]) -> dict[str, str]:
    used = {each.id for each in ast.walk(hint) if isinstance(each, ast.Name)} & names.keys()
    return {name: "" if inspect.ismodule(names[name]) else names[name].__module__ for name in used}


def _plain(options: Mapping[str, Said]) -> dict[str, Said]:
    """Return the driver's options; its tolerations are plain values, since a plan is made of
    them.
    """
    inner = "pulumi.Input[DriverToleration]"
    return {
        name: replace(each, hint=each.hint.replace(inner, "DriverToleration"))
        for name, each in options.items()
    }


def _class(
    name: str, says: str, options: Mapping[str, Mapping[str, Said]], modules: dict[str, str]
) -> str:
    lines = [f"class {name}(TypedDict):", f'    """{says}"""', ""]
    if name == "PoolOptions":
        lines += ["    name: str", '    """Name of the pool in the fleet."""']
    fields = list(dict.fromkeys(field for of_cloud in options.values() for field in of_cloud))
    for field in sorted(
        fields, key=lambda field: -sum(field in of_cloud for of_cloud in options.values())
    ):
        found = {title: of_cloud[field] for title, of_cloud in options.items() if field in of_cloud}
        hints = {each.hint for each in found.values()}
        if len(hints) > 1:
            raise ValueError(f"{name}.{field} is {' here and '.join(sorted(hints))} there")
        for each in found.values():
            modules |= each.modules
        lines += [
            f"    {field}: {hints.pop()}",
            *_sentence(found, everywhere=len(found) == len(options)),
        ]
    return "\n".join([*lines, ""])


def _sentence(found: Mapping[str, Said], *, everywhere: bool) -> list[str]:
    by_sentence: dict[str, list[str]] = {}
    for title, each in found.items():
        by_sentence.setdefault(each.says, []).append(title)
    if everywhere and len(by_sentence) == 1:
        says = next(iter(by_sentence))
    else:
        says = " ".join(
            f"{' and '.join(titles)}: {sentence}" for sentence, titles in by_sentence.items()
        )
    wrapped = textwrap.wrap(
        f'"""{says}"""', _WIDTH - 4, break_long_words=False, break_on_hyphens=False
    )
    return [f"    {line}" for line in wrapped]


def _imports(modules: Mapping[str, str]) -> str:
    lines = [f"import {name}" for name, module in sorted(modules.items()) if not module]
    by_module: dict[str, list[str]] = {}
    for name, module in modules.items():
        if module and module != "typing":
            by_module.setdefault(module, []).append(name)
    own = [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(by_module.items())
    ]
    return "\n".join([*lines, "", *own, ""])
