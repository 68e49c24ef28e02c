"""Names of resources that leave room for the suffix Pulumi adds, where the cloud allows few
characters.
"""

import hashlib

_SUFFIX = 8  # "-1a2b3c4"
_DIGEST = 6


def fitting(name: str, most: int) -> str:
    """Return a logical name that an automatic name of at most `most` characters can be made of.

    One that fits stays; a long one is cut and ends in a digest of all of it, so that two never
    meet. Pulumi refuses a name without that room
    (pulumi/pulumi:sdk/go/common/resource/resource_id.go@v3.259.0, `NewUniqueName`).
    """
    if len(name) + _SUFFIX <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{name[: most - _SUFFIX - _DIGEST - 1].rstrip('-')}-{digest}"


def made_of(start: str, end: str, most: int) -> str:
    """Return a whole name of at most `most` characters: `start`, cut to what the end leaves of
    them, and `end`.

    An end that is too long itself ends in a digest of all of it, so that two never meet.
    """
    longest = most - 1 - _DIGEST  # some of the start stays
    if len(end) > longest:
        digest = hashlib.sha256(end.encode()).hexdigest()[:_DIGEST]
        end = f"{end[: longest - _DIGEST - 1].rstrip('-')}-{digest}"
    return f"{start[: most - len(end)]}{end}"
