"""Reference pages for fleets, plan files, components, and subcommands, from their schemas and help
texts.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent / "schema"
ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "components"
_INDEX = "pulumi-dra:index:"
_NAME = re.compile(r"`?\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b`?")


def pages() -> dict[str, str]:
    """Return the text of every reference page by its file's name."""
    return {
        "command.md": _command(),
        "fleet.md": _of_schema(
            "fleet",
            "The fleet",
            "A fleet describes a cluster and its pools, either in a YAML file (`--fleet FILE`) "
            "or in a stack's `pulumi-dra:fleet` key. This key can also contain the path of a fleet "
            "file. Unknown keys are errors. Editors can use [the schema](../schema/fleet.json).",
            example="examples/eighty-gi/fleet.yaml",
        ),
        "plan-file.md": _of_schema(
            "plan-file",
            "The plan file",
            "`pulumi-dra plan --stack NAME --write` writes the plan to `stacks/NAME.plan.json`. "
            "Review and commit this file, because the Pulumi program creates its pools from it. "
            "The format has a [schema](../schema/plan-file.json).",
        ),
        "components.md": _components(),
    }


def _of_schema(name: str, title: str, introduction: str, example: str = "") -> str:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    parts = schema["$defs"]
    lines = [f"# {title}", "", introduction]
    if example:
        text = (ROOT / example).read_text(encoding="utf-8").rstrip()
        lines += ["", f"An example, `{example}`:", "", "```yaml", *text.split("\n"), "```"]
    lines += ["", "## Keys", "", *_keys(schema, parts)]
    for part, definition in parts.items():
        lines += ["", f"## {part}", ""]
        if description := definition.get("description"):
            lines += [_plain(description), ""]
        lines += (
            _keys(definition, parts) if "properties" in definition else [f"{_type(definition)}."]
        )
    return _text(lines)


def _keys(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a list item for each key. Without its own description, a key has the part's."""
    required = set(schema.get("required", ()))
    for key, value in schema["properties"].items():
        named = value.get("$ref") or next(
            (each["$ref"] for each in value.get("anyOf", ()) if "$ref" in each), ""
        )
        part = parts.get(named.rpartition("/")[2], {})
        meaning = _plain(value.get("description") or part.get("description", ""))
        note = "**required**" if key in required else _default(value)
        note = f", default {note}" if note.startswith("`") else f", {note}" if note else ""
        yield f"- `{key}` ({_type(value)}{note})" + (f": {meaning}" if meaning else "")


def _default(value: Mapping[str, Any]) -> str:
    return (
        ""
        if value.get("default") is None
        else f"`{json.dumps(value['default'], ensure_ascii=False)}`"
    )


def _type(value: Mapping[str, Any]) -> str:
    """Return a description of the allowed values; separate parts are links."""
    if "$ref" in value:
        part = value["$ref"].rpartition("/")[2]
        return f"[{part}](#{part.lower()})"
    if "enum" in value:
        return ", ".join(f"`{each}`" if each != "" else '`""`' for each in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(
                dict.fromkeys(_type(each) for each in value[several] if each.get("type") != "null")
            )
    match value.get("type"):
        case "array":
            return f"list of {_type(value.get('items', {}))}"
        case "object":
            inner = value.get("additionalProperties") or next(
                iter(value.get("patternProperties", {}).values()), None
            )
            return f"mapping to {_type(inner)}" if isinstance(inner, dict) else "mapping"
        case "string":
            return "text"
        case None:
            return "any"
        case kind:
            return str(kind)


def _components() -> str:
    package = _with_schema_names(
        json.loads((SCHEMAS / "components.json").read_text(encoding="utf-8"))
    )
    lines = [
        "# Components",
        "",
        "This page lists the inputs and outputs of every component, with the names in [the "
        "package's schema](../schema/components.json). TypeScript, Go, and YAML programs use "
        "these names, and Python programs use snake_case. `pulumi-dra:platform` in a stack "
        "accepts the inputs of `DraPlatform`. The examples are parts of [tested "
        "programs](../../examples/components).",
    ]
    examples = _examples()
    for token, component in package["resources"].items():
        lines += [
            "",
            f"## {token.removeprefix(_INDEX)}",
            "",
            _plain(component.get("description", "")),
            "",
        ]
        lines += _inputs(component.get("inputProperties", {}), component.get("requiredInputs", ()))
        if outputs := component.get("properties"):
            lines += ["", "**Outputs**", ""]
            lines += [
                _entry(key, _input_type(value), value.get("description", ""))
                for key, value in outputs.items()
            ]
        lines += ["", "```python", examples[token.removeprefix(_INDEX)], "```"]
    for token, part in package["types"].items():
        lines += [
            "",
            f"## {token.removeprefix(_INDEX)}",
            "",
            _plain(part.get("description", "")),
            "",
        ]
        lines += _inputs(part["properties"], part.get("required", ()))
    return _text(lines)


def _with_schema_names(package: dict[str, Any]) -> dict[str, Any]:
    """Return the package with the names of properties in its descriptions as the schema writes
    them: descriptions come from docstrings, which use Python's names.
    """
    described = [*package["resources"].values(), *package["types"].values()]
    keys = {
        key
        for each in described
        for part in ("inputProperties", "properties")
        for key in each.get(part, ())
    }
    names = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower(): key for key in keys}
    compound = {python: key for python, key in names.items() if "_" in python}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: _NAME.sub(lambda found: _schema_name(found, compound), item)
                if key == "description" and isinstance(item, str)
                else renamed(item)
                for key, item in value.items()
            }
        return [renamed(each) for each in value] if isinstance(value, list) else value

    return renamed(package)


def _schema_name(found: re.Match[str], names: Mapping[str, str]) -> str:
    name = names.get(found[1])
    return found[0] if name is None else f"`{name}`"


def _examples() -> dict[str, str]:
    """Return the statement that creates each component, from an example."""
    found: dict[str, str] = {}
    for path in sorted(EXAMPLES.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for statement in ast.parse(text).body:
            made = getattr(statement, "value", None)
            if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
                shown = "\n".join(text.splitlines()[statement.lineno - 1 : statement.end_lineno])
                found.setdefault(made.func.id, shown)
    return found


def _inputs(inputs: Mapping[str, Any], required: object) -> Iterator[str]:
    yield from ("**Inputs**", "")
    for key, value in inputs.items():
        must = ", **required**" if isinstance(required, list | tuple) and key in required else ""
        yield _entry(key, _input_type(value) + must, value.get("description", ""))


def _entry(key: str, value: str, meaning: str) -> str:
    """Return a list entry, which is easier to read on narrow screens than a row of a table."""
    return f"- `{key}` ({value})" + (f": {' '.join(meaning.split())}" if meaning else "")


def _input_type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        part = re.split(r"[/:]", value["$ref"])[-1]
        return f"[{part}](#{part.lower()})" if _INDEX in value["$ref"] else part
    match value.get("type"):
        case "array":
            return f"list of {_input_type(value['items'])}"
        case "object" if "additionalProperties" in value:
            return f"mapping to {_input_type(value['additionalProperties'])}"
        case "string":
            return "text"
        case kind:
            return str(kind or "any")


def _command() -> str:
    from dra_command.command_line.arguments import build_parser
    from dra_command.command_line.examples import EXAMPLES

    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    lines = [
        "# The command",
        "",
        "All subcommands and their options, as in `pulumi-dra COMMAND --help`. Exit status: 0 "
        "all workloads fit, 1 a workload doesn't fit or violates a rule, 2 the input is invalid, 3 "
        "cannot tell.",
    ]
    for name, subparser in commands.choices.items():
        lines += [
            "",
            f"## {name}",
            "",
            str(subparser.description),
            "",
            "| Option | Meaning |",
            "| :-- | :-- |",
        ]
        lines += [
            f"| {_option(action)} | {_help(action)} |"
            for action in subparser._actions
            if action.dest != "help"
        ]
        lines += ["", "```text", EXAMPLES[name].strip(), "```"]
    return _text(lines)


def _option(action: argparse.Action) -> str:
    metavar = action.metavar or (
        "" if action.nargs == 0 else "|".join(map(str, action.choices or ()))
    )
    values = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    return " ".join(filter(None, (names, f"`{values}`" if values else ""))).replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    return _cell((action.help or "") % {"default": action.default})


def _plain(text: str) -> str:
    """Return a docstring as paragraphs of a page."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
