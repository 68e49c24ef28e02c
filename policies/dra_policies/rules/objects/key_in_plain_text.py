"""Keys and tokens in plain text in a resource's properties. Values marked as secret aren't visible
here.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any, Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import as_list, as_mapping
from dra_policies.view.stack_view import DeclaredResource, StackView

URL: Final = "https://www.pulumi.com/docs/iac/concepts/secrets/"
_FORMS: Final = (
    ("an AWS access key", re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    (
        "a GitHub token",
        re.compile(r"\b(gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{40,})"),
    ),
    ("a Hugging Face token", re.compile(r"\bhf_[0-9A-Za-z]{30,}\b")),
    ("an NVIDIA NGC key", re.compile(r"\bnvapi-[0-9A-Za-z_-]{40,}")),
)
_OF_PROVIDERS: Final = ("secretKey", "accessToken", "credentials", "token", "clientSecret")
_NAME: Final = re.compile(
    r"(TOKEN|PASSWORD|PASSWD|SECRET|SECRET_KEY|API_KEY|ACCESS_KEY|PRIVATE_KEY)$"
)
# the startup script of a machine, often in base64
_ENCODED: Final = ("userData", "userDataBase64", "customData")
_PROVIDERS: Final = "pulumi:providers:"
_CREDENTIALS: Final = "credentials"
_DEEPEST: Final = 30


def check(view: StackView) -> Iterator[Finding]:
    for each in (*view.objects, *view.declared):
        is_provider = each.type.startswith(_PROVIDERS)
        for path, what in dict.fromkeys(_keys(each.props.values, "", is_provider)):
            yield Finding(
                message=f"{_title(each)} contains {what} in plain text (in {path})",
                fix=f"rotate {_again(what)}, and store the new {'ones' if what == _CREDENTIALS else 'one'} as "
                "a Pulumi secret (`pulumi config set --secret`) or in a secret store",
                urn=each.urn,
            )


def _again(what: str) -> str:
    """Return a noun phrase for a key that the message already names."""
    article, _, noun = what.partition(" ")
    return f"the {noun}" if article in ("a", "an", "the") else f"these {what}"


def _keys(value: Any, path: str, is_provider: bool, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the path of each key and the kind that it appears to be."""
    mapping, items = as_mapping(value), as_list(value)
    if depth > _DEEPEST:
        return
    if mapping is not None:
        name, given = mapping.get("name"), mapping.get("value")
        if (
            isinstance(name, str)
            and isinstance(given, str)
            and given
            and _NAME.search(name.upper())
        ):
            yield f"{path}.value" if path else "value", f"the value of {name}"
        for key, item in mapping.items():
            if isinstance(item, str) and len(item) < _SHORTEST and not is_provider:
                continue  # most values
            below = f"{path}.{key}" if path else key
            if is_provider and key in _OF_PROVIDERS and isinstance(item, str) and item:
                yield below, _CREDENTIALS
            else:
                yield from _keys(item, below, is_provider, depth + 1)
    elif items is not None:
        for index, item in enumerate(items):
            yield from _keys(item, f"{path}[{index}]", is_provider, depth + 1)
    elif isinstance(value, str) and len(value) >= _SHORTEST:
        text = f"{value}\n{_decoded(value)}" if path.rpartition(".")[2] in _ENCODED else value
        yield from ((path, what) for what, form in _FORMS if form.search(text))


def _decoded(value: str) -> str:
    """Return the decoded text of base64, or "" if it isn't base64."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return ""


_SHORTEST: Final = 20


def _title(each: DeclaredResource) -> str:
    kind = "provider" if each.type.startswith(_PROVIDERS) else each.type.rpartition(":")[2]
    return f'{kind} "{each.name}"'


RULE = Rule(
    id="key-in-plain-text",
    description="A key or token isn't stored as a stack secret.",
    why="Anyone with access to the state, previews, or logs can read the value.",
    fix="Mark the value as secret, and rotate keys that were stored in plain text.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
