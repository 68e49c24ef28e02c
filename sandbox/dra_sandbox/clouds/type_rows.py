"""The format of the tables, with one row for each resource type for which a real cloud does more
than store the inputs.
"""

from __future__ import annotations

import base64
import hashlib
import string
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field, structs

from dra_sandbox.clouds.differences import ReplaceRule
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.wire_values import Value, Values

NODE_MINUTES = 5


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


class Facts(Struct, frozen=True):
    """The values that a template of a row can use: inputs, the place in the cloud, the cloud's own
    texts, and the other resources.
    """

    inputs: Values
    words: Mapping[str, str]
    old: Values
    cloud: Memory

    def text(self, template: str) -> str:
        """Return the template with `{word}` replaced, preferably by an input. An unknown word
        becomes an empty text.
        """
        return string.Formatter().vformat(template, (), _Words(self.inputs, self.words))


class _Words(dict[str, str]):
    def __init__(self, inputs: Values, words: Mapping[str, str]) -> None:
        given = {
            name: str(value) for name, value in inputs.items() if isinstance(value, (str, int))
        }
        super().__init__({**words, **given})

    def __missing__(self, key: str) -> str:
        return ""


class CloudRequest(Struct, frozen=True):
    """A call that changes a resource. `before` is None for a creation, and `inputs` for a deletion.
    `patience` is the number of seconds that the engine lets the provider wait, or 0 without a
    setting.
    """

    identifier: str
    inputs: Values | None
    before: Values | None
    cloud: Memory
    patience: float = 0

    def waits_for(self, nodes: int, at_once: int, usual_minutes: int) -> bool:
        """Return True if a provider with a default timeout of `usual_minutes` waits long enough for
        this number of replaced nodes.

        A node needs five minutes: aws-quickstart/quickstart-amazon-eks issue 377, Azure/aks-engine
        issue 1980.
        """
        return -(-nodes // max(1, at_once)) * NODE_MINUTES <= (self.patience / 60 or usual_minutes)


Refusal = Callable[[CloudRequest], str | None]
Effect = Callable[[CloudRequest], None]
Output = str | int | bool | list[Any] | Mapping[str, Any] | Callable[[Facts], Value]


class TypeRow(Struct, frozen=True):
    """Facts about a resource type that the SDK doesn't contain.

    `id` and the texts in `outputs` are templates over `Facts`. An output is used only if no input
    sets the value. `instead` contains outputs whose form differs from the input with the same name.
    `every_time` outputs are recomputed at each update. `known` outputs are too, and are known in a
    preview. `defaults` are inputs that the provider fills in. `replace`, `in_place` and
    `when_removed` are paths as in ReplaceRule; `sets` are lists without an order. `allowed` are
    values per path (`[*]` for elements). `name` is the property that is named automatically, "" for
    none; None means `name` where it is optional. `protected_by` is a boolean property that forbids
    deletion. `checks` judge the inputs alone, in previews too; `api_checks` do so when the API is
    called; `refusals` what is asked of a cloud that has other things, when it is asked. `reported`
    is what the cloud says of a resource though nobody gave it and the provider takes for a
    difference; `returned` the inputs as the provider reads them back, where it reads something
    else; `unchanged` the old inputs with what the new ones repeat of the cloud's own. A type that
    rules of other types look up is `remembered`; `effects` are what a call that was not refused
    does to other things of the cloud.
    """

    id: str = ""
    outputs: Mapping[str, Output] = field(default_factory=_nothing)
    every_time: Mapping[str, Output] = field(default_factory=_nothing)
    known: Mapping[str, Output] = field(default_factory=_nothing)
    instead: Mapping[str, Output] = field(default_factory=_nothing)
    defaults: Mapping[str, Value] = field(default_factory=_nothing)
    replace: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    when_removed: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    allowed: Mapping[str, frozenset[str]] = field(default_factory=_nothing)
    name: str | None = None
    name_limit: int = 255
    protected_by: str = ""
    checks: tuple[Callable[[Values], str | None], ...] = ()
    api_checks: tuple[Callable[[Values], str | None], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    effects: tuple[Effect, ...] = ()
    reported: Callable[[Values], Values] | None = None
    returned: Callable[[Values], Values] | None = None
    unchanged: Callable[[Values, Values], Values] | None = None
    remembered: bool = False

    def over(self, common: TypeRow) -> TypeRow:
        """Return this row, with the values of `common` for everything that it doesn't set."""
        return structs.replace(
            self, outputs={**common.outputs, **self.outputs}, known={**common.known, **self.known}
        )

    def replace_rule(self, documented: frozenset[str]) -> ReplaceRule:
        """Return the rule of this row, including the properties that can't change according to the
        SDK's descriptions.
        """
        return ReplaceRule(
            documented | frozenset(self.replace),
            frozenset(self.in_place),
            frozenset(self.when_removed),
        )


def fill(output: Output, facts: Facts) -> Value:
    """Return the value of a row's output for these facts."""
    if isinstance(output, str):
        return facts.text(output)
    if isinstance(output, Mapping):
        return {name: fill(member, facts) for name, member in output.items()}
    if isinstance(output, list):
        return [fill(member, facts) for member in output]
    return output(facts) if callable(output) else output


def same_as(name: str, fallback: Value = None) -> Callable[[Facts], Value]:
    """Return an output that repeats the input `name`."""
    return lambda facts: facts.inputs.get(name, fallback)


def words_for(seed: str) -> dict[str, str]:
    """Return texts in the formats that clouds use in identifiers. The same seed gives the same
    texts.
    """
    digest = hashlib.sha256(seed.encode()).hexdigest()
    body = base64.b64encode(f"simulated certificate {digest}".encode()).decode()
    certificate = f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
    return {
        "hex8": digest[:8],
        "hex17": digest[:17],
        "hex32": digest[:32],
        "HEX32": digest[:32].upper(),
        "uuid": f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}",
        "digits": str(int(digest[:16], 16) % 10**12).rjust(12, "1"),
        "octet": str(int(digest[:4], 16) % 200 + 20),
        "certificate": base64.b64encode(certificate.encode()).decode(),
    }
