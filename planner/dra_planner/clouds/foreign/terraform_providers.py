"""Settings of providers in the configuration of a Terraform plan, with the values of variables.

Source of the format: https://developer.hashicorp.com/terraform/internals/json-format. An expression
contains either a constant, or only the names of the objects to which it refers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_planner.documents.plain_values import block, named_blocks, text, texts


def read_provider_settings(data: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the known settings of each provider, by the provider's name.

    These are constants, and references to one variable with a known value. A provider without an
    alias precedes providers with an alias.
    """
    configured = named_blocks(block(data, "configuration"), "provider_config")
    found: dict[str, Mapping[str, Any]] = {}
    for key, provider in sorted(configured, key=lambda each: "alias" not in each[1]):
        name = text(provider.get("name")) or key.rpartition(":")[2]
        path = tuple(each for each in text(provider.get("module_address")).split(".") if each)
        found[name] = {
            setting: _value(data, path[1::2], expression)
            for setting, expression in named_blocks(provider, "expressions")
        }
    return found


def _value(data: Mapping[str, Any], path: tuple[str, ...], expression: Any) -> Any:
    """Return the value of an expression in the module at a path of names, or None if it's
    unknown.
    """
    if not isinstance(expression, Mapping):
        return None
    if "constant_value" in expression:
        return expression["constant_value"]
    references = texts(expression.get("references"))
    # var.site.region also refers to var.site; any other reference is part of a larger expression
    if not references or any(not references[0].startswith(each) for each in references):
        return None
    first, *steps = references[0].split(".")
    if first != "var" or not steps:
        return None
    found = _variable(data, path, steps[0])
    for step in steps[1:]:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _variable(data: Mapping[str, Any], path: tuple[str, ...], name: str) -> Any:
    """Return the value of a module's variable: the argument of the module's call, or otherwise its
    default. Values of the root module's variables are part of the plan.
    """
    module, call = block(block(data, "configuration"), "root_module"), None
    for each in path:
        call = block(block(module, "module_calls"), each)
        module = block(call, "module")
    if call is not None and name in block(call, "expressions"):
        return _value(data, path[:-1], block(call, "expressions")[name])
    given = block(block(data, "variables"), name) if call is None else {}
    return given["value"] if "value" in given else _default(module, name)


def _default(module: Mapping[str, Any], name: str) -> Any:
    return block(block(module, "variables"), name).get("default")
