"""Resource names that leave space for Pulumi's suffix, if the cloud allows few characters."""

import hashlib

_SUFFIX = 8  # "-1a2b3c4"
_DIGEST = 6


def fitting(name: str, most: int) -> str:
    """Return a logical name for an automatic name of at most `most` characters.

    A long name is cut and ends in a digest of the whole name, so that names stay unique. Pulumi
    rejects a name without space for its suffix
    (pulumi/pulumi:sdk/go/common/resource/resource_id.go@v3.259.0, `NewUniqueName`).
    """
    if len(name) + _SUFFIX <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{name[: most - _SUFFIX - _DIGEST - 1].rstrip('-')}-{digest}"


def made_of(start: str, end: str, most: int) -> str:
    """Return a complete name of at most `most` characters: `start`, cut if needed, and `end`.

    An `end` that is too long ends in a digest of the whole name, so that names stay unique.
    """
    longest = most - 1 - _DIGEST  # keeps part of the start
    if len(end) > longest:
        digest = hashlib.sha256(end.encode()).hexdigest()[:_DIGEST]
        end = f"{end[: longest - _DIGEST - 1].rstrip('-')}-{digest}"
    return f"{start[: most - len(end)]}{end}"
