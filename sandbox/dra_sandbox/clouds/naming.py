"""Automatic names: the logical name and a random suffix that is the same for the same seed of the
engine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import Values


class NameRefused(Exception):
    """No name can be given; the message says why."""


@dataclass(frozen=True, slots=True)
class Autonamed:
    """How one provider forms names: characters of the suffix, what stands before it, whether all is
    lower case.
    """

    suffix_length: int = 7
    separator: str = "-"
    alphabet: str = "0123456789abcdef"
    lower_case: bool = False

    def name(self, request: provider_pb2.CheckRequest, limit: int) -> str:
        """A name for the resource of the request, of at most `limit` characters.

        Raises NameRefused when the stack's configuration forbids automatic names, or the name grows
        too long.
        """
        options = request.autonaming
        if request.HasField("autonaming"):
            if options.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE:
                raise NameRefused("automatic naming is disabled: give the resource a name")
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
    """The automatic name that the resource has already, or None."""
    value = old.get(prop)
    return value if isinstance(value, str) and prop in (old.get("__defaults") or []) else None
