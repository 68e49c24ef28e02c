"""Automatic names: the logical name and a random suffix that depends on the engine's seed."""

from __future__ import annotations

import hashlib

from msgspec import Struct
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import Values


class NameRefused(Exception):
    """No name can be generated. The message contains the reason."""


class Autonamed(Struct, frozen=True):
    """The format of a provider's names: characters of the suffix, the separator before it, and
    whether names are lower case.
    """

    suffix_length: int = 7
    separator: str = "-"
    alphabet: str = "0123456789abcdef"
    lower_case: bool = False

    def name(self, request: provider_pb2.CheckRequest, limit: int) -> str:
        """Return a name of at most `limit` characters for the resource of the request. Raises
        NameRefused if the stack's configuration forbids automatic names, or if the name is too
        long.
        """
        options = request.autonaming
        if request.HasField("autonaming"):
            if options.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE:
                raise NameRefused("automatic naming is disabled; set the resource's name")
            if options.proposed_name:
                return options.proposed_name
        logical = request.name or request.urn.rsplit("::", 1)[-1]
        name = (
            f"{logical}{self.separator}{self._suffix(request.randomSeed or request.urn.encode())}"
        )
        if len(name) > limit:
            raise NameRefused(f'the automatic name "{name}" is longer than {limit} characters')
        return name.lower() if self.lower_case else name

    def _suffix(self, seed: bytes) -> str:
        number = int.from_bytes(hashlib.sha256(seed).digest(), "big")
        letters = []
        for _ in range(self.suffix_length):
            number, index = divmod(number, len(self.alphabet))
            letters.append(self.alphabet[index])
        return "".join(letters)


def kept_name(old: Values, prop: str) -> str | None:
    """Return the existing automatic name of the resource, or None."""
    value = old.get(prop)
    return value if isinstance(value, str) and prop in (old.get("__defaults") or []) else None
