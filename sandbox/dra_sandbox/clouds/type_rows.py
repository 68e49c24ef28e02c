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
    """The values that the templates of a row can use: the inputs, the place in the cloud, texts
    that the cloud generates, and the other resources.
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

    `patience` is the number of seconds that the engine lets the provider wait, or 0 if no timeout
    is set.
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

    Outputs: `id` and the texts in `outputs` are templates over `Facts`. An output is used only if
    no input sets the value. `instead` contains outputs whose form differs from the input with the
    same name. `every_time` outputs are recomputed at each update. `known` outputs are also
    recomputed, and are known in a preview.

    Inputs: `defaults` are inputs that the provider fills in. `replace`, `in_place`, and
    `when_removed` are paths as in ReplaceRule. `sets` are the paths of lists without an order.
    `allowed` contains the allowed values by path (`[*]` for elements). `name` is the property for
    which the provider generates a name, or "" if there is none. None stands for the property `name`
    if it is optional. `protected_by` is a boolean property that forbids deletion.

    Checks: `checks` evaluate only the inputs, also in previews. `api_checks` evaluate only the
    inputs when the API is called. `refusals` then evaluate the call together with other resources
    of the cloud. `effects` are functions that apply the effects of an accepted call to other
    resources.

    Differences: `reported` returns values that the cloud adds although no input sets them, and that
    the provider reports as a difference. `returned` returns the inputs as the provider reads them
    back, if they differ from the original inputs. `unchanged` returns the old inputs, changed so
    that new inputs which only repeat the cloud's own values aren't a difference. `remembered` is
    True for a type that the rules of other types look up.
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
        """Return the replacement rule of this row.

        It includes `documented`, the properties that can't change according to the SDK's
        descriptions.
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
