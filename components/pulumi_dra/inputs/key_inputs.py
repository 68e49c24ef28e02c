"""The input that grants cloud services the use of given keys."""

from pulumi_dra.inputs.reader import InputReader


def read_key_grant(read: InputReader, *keys: str) -> bool:
    """Return `grant_key_use`, by default true. Without one of `keys`, there is nothing to grant."""
    if read.has("grant_key_use") and not any(read.has(key) for key in keys):
        read.refuse("grant_key_use", f"has no effect without {' or '.join(keys)}")
    return read.flag("grant_key_use", True)
