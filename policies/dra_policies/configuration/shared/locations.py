"""Locations of shared files in `extends`, `fleets`, and `--fleet`."""

from __future__ import annotations

import os
import posixpath
import re
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import NOWHERE, Place, PlannerError
from dra_planner.sources import CONFIGURATION

_SHA256: Final = re.compile(r"sha256[=:](?P<digest>[0-9a-f]{64})")
_OCI: Final = re.compile(
    r"oci://(?P<registry>[^/\s]+)/(?P<repository>[a-z0-9._/-]+?)(?::(?P<tag>[\w.-]+)|@(?P<digest>sha256:[0-9a-f]{64}))"
)
_GIT_SCHEMES: Final = ("https", "ssh", "file")


class LocationError(PlannerError):
    """An invalid location."""


class LocalFile(Struct, frozen=True):
    """A file on this machine."""

    path: str

    def __str__(self) -> str:
        return self.path


class GitFile(Struct, frozen=True):
    """A file of a git repository at a branch, tag, or commit."""

    url: str
    ref: str
    path: str

    def __str__(self) -> str:
        return f"git+{without_password(self.url)}@{self.ref}#{self.path}"


class WebFile(Struct, frozen=True):
    """A file at a URL, with the digest of its content."""

    url: str
    sha256: str

    def __str__(self) -> str:
        return f"{without_password(self.url)}#sha256={self.sha256}"


class OciFile(Struct, frozen=True):
    """A file of an OCI artifact; `reference` is a tag, or a digest that starts with "sha256:"."""

    registry: str
    repository: str
    reference: str
    path: str = ""

    def __str__(self) -> str:
        mark = "@" if self.reference.startswith("sha256:") else ":"
        path = f"#{self.path}" if self.path else ""
        return f"oci://{self.registry}/{self.repository}{mark}{self.reference}{path}"


Location = LocalFile | GitFile | WebFile | OciFile


def parse_location(text: str, base: Location | None = None, place: Place = NOWHERE) -> Location:
    """Return the location in a text. A path is relative to the file `base`. Raises
    LocationError.
    """
    if "://" in text and not _is_valid_url(text):
        raise LocationError(
            "the URL isn't valid",
            place=place,
            fix="check the host, the port, and special characters",
        )
    if text.startswith("git+"):
        return _git(text, place)
    if text.startswith(("https://", "http://")):
        return _web(text, place)
    if text.startswith("oci://"):
        return _oci(text, place)
    if "://" in text:
        raise LocationError(
            f"unsupported URL scheme: {text}",
            place=place,
            fix="use git+https, git+ssh, https, or oci",
        )
    match base:
        case GitFile():
            return replace(base, path=_inside(base.path, text, place))
        case OciFile():
            return replace(base, path=_inside(base.path, text, place))
        case WebFile():
            raise LocationError(
                f"a file from a URL can't extend the local path {text}",
                place=place,
                fix="use the full URL of the extended file",
            )
        case LocalFile():
            return LocalFile(os.path.normpath(os.path.join(os.path.dirname(base.path), text)))
        case _:
            return LocalFile(text)


def without_password(url: str) -> str:
    """Return a URL without its password, for messages."""
    try:
        parts = urlsplit(url)
    except ValueError:  # git can also print an invalid URL
        return re.sub(r"//.*@", "//***@", url)
    if "@" not in parts.netloc:
        return url
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0] if parts.scheme == "ssh" else "***"
    return urlunsplit(parts._replace(netloc=f"{name}@{host}"))


def _is_valid_url(text: str) -> bool:
    """Return True if git and the HTTP client can parse the URL: its host and port, without control
    characters.
    """
    try:
        port = urlsplit(text).port
    except ValueError:
        return False
    return text.isprintable() and port != 0


def _git(text: str, place: Place) -> GitFile:
    address, _, path = text.removeprefix("git+").partition("#")
    scheme = urlsplit(address).scheme
    if scheme not in _GIT_SCHEMES:
        fix = "use the form git+https://HOST/REPOSITORY.git@REF#PATH"
        raise LocationError(f'"{scheme}" git URLs aren\'t supported', place=place, fix=fix)
    before, slash, last = address.rpartition("/")
    name, mark, ref = last.partition("@")
    if not (mark and ref) or ref.startswith("-"):
        fix = f"add a commit, tag, or branch: git+{without_password(before + slash + name)}@REF"
        raise LocationError("the git URL doesn't have a ref", place=place, fix=fix)
    return GitFile(f"{before}{slash}{name}", ref, _inside("", path or CONFIGURATION, place))


def _web(text: str, place: Place) -> WebFile:
    url, _, fragment = text.partition("#")
    found = _SHA256.fullmatch(fragment)
    if found is None:
        fix = (
            f"add the digest of the file: {without_password(url)}#sha256=DIGEST (sha256sum FILE "
            "prints it)"
        )
        message = (
            f'the digest "{fragment}" isn\'t sha256= with 64 hexadecimal digits'
            if fragment.startswith("sha256")
            else "the URL doesn't have a digest, so its content could change without notice"
        )
        raise LocationError(message, place=place, fix=fix)
    return WebFile(url, found["digest"])


def _oci(text: str, place: Place) -> OciFile:
    address, _, path = text.partition("#")
    found = _OCI.fullmatch(address)
    if found is None:
        fix = (
            "use the form oci://REGISTRY/REPOSITORY:TAG, or oci://REGISTRY/REPOSITORY@sha256:DIGEST"
        )
        raise LocationError(f"invalid OCI reference: {text}", place=place, fix=fix)
    return OciFile(found["registry"], found["repository"], found["tag"] or found["digest"], path)


def _inside(base: str, path: str, place: Place) -> str:
    """Return a path relative to a file of a repository. Raises LocationError if it's outside the
    repository.
    """
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(base), path))
    if posixpath.isabs(joined) or joined == ".." or joined.startswith("../"):
        raise LocationError(
            f"{path} is outside the repository", place=place, fix="use a path in the repository"
        )
    return joined
