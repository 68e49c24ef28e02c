"""Cloud SDKs are optional: says which extra to install when one is missing."""

from importlib.util import find_spec


def require_sdk(sdk: str, extra: str, wanted_by: str) -> None:
    """Raise ImportError naming the extra that brings `sdk`, unless it is installed."""
    if find_spec(sdk) is None:
        raise ImportError(f'{wanted_by} needs {sdk}: pip install "pulumi-dra[{extra}]"', name=sdk)
