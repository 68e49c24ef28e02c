"""A check for optional cloud SDKs. Its error names the extra to install."""

from importlib.util import find_spec


def require_sdk(sdk: str, extra: str, wanted_by: str) -> None:
    """Raise ImportError with the name of the extra that installs `sdk`, unless it's installed."""
    if find_spec(sdk) is None:
        raise ImportError(f'{wanted_by} needs {sdk}: pip install "pulumi-dra[{extra}]"', name=sdk)
