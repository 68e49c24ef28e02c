"""Files of OCI artifacts, as `oras push` writes them: one layer for each file, with its name as the
title.

Supports only public repositories: the client requests an anonymous token, and doesn't read
credentials. Source of the protocol: opencontainers/distribution-spec:spec.md@v1.1.0.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from dra_policies.configuration.shared.locations import OciFile
from dra_policies.configuration.shared.pinned_files import DownloadError, download, pinned

_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_TITLE: Final = "org.opencontainers.image.title"
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")
_PUSH: Final = "push the file with `oras push`"
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')


def read_oci_file(file: OciFile, folder: Path) -> bytes:
    """Return a file of an artifact, and cache it in the folder under its digest. Raises
    DownloadError.
    """
    registry = _Registry(file)
    if file.reference.startswith("sha256:"):
        text = pinned(
            file.reference.removeprefix("sha256:"),
            folder,
            lambda: registry.get("manifests", file.reference),
        )
    else:
        text = registry.get("manifests", file.reference)
    digest = _layer(text, file.path)
    return pinned(digest.removeprefix("sha256:"), folder, lambda: registry.get("blobs", digest))


def _layer(text: bytes, path: str) -> str:
    """Return the digest of the layer with that title, or of the only layer if no path is given."""
    try:
        manifest: Any = json.loads(text)
        layers = [
            (str(each.get("annotations", {}).get(_TITLE, "")), str(each["digest"]))
            for each in manifest["layers"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DownloadError("the response isn't an OCI artifact manifest", fix=_PUSH) from None
    found = [digest for title, digest in layers if not path or title == path]
    if len(found) != 1:
        titles = ", ".join(
            title or "the artifact has a layer without a title" for title, _ in layers
        )
        if not any(title for title, _ in layers):
            raise DownloadError(f"it contains {titles or 'no file'}", fix=_PUSH)
        fix = "correct the file name after #" if path else "add #FILE to the location"
        raise DownloadError(f"it contains {titles}", fix=fix)
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", found[0]):
        raise DownloadError(f"the layer uses the digest {found[0]} instead of sha256", fix=_PUSH)
    return found[0]


class _Registry:
    """The repository of an artifact."""

    def __init__(self, file: OciFile) -> None:
        host = file.registry.rpartition(":")[0] or file.registry
        scheme = "http" if host in _LOCAL else "https"
        self._url = f"{scheme}://{file.registry}/v2/{file.repository}"
        self._headers = {"Accept": _MANIFEST}

    def get(self, kind: str, reference: str) -> bytes:
        """Return a manifest or a blob, with an anonymous token if the registry requires one."""
        url = f"{self._url}/{kind}/{reference}"
        try:
            return download(url, self._headers)
        except DownloadError as error:
            challenge = error.headers.get(
                "WWW-Authenticate", error.headers.get("Www-Authenticate", "")
            )
            if error.status != 401 or not challenge.startswith("Bearer "):
                raise
        self._headers["Authorization"] = f"Bearer {_token(challenge)}"
        return download(url, self._headers)


def _token(challenge: str) -> str:
    parameters = dict(_PARAMETER.findall(challenge))
    query = urlencode({key: parameters[key] for key in ("service", "scope") if key in parameters})
    if not parameters.get("realm", "").startswith("http"):
        raise DownloadError("the registry's response doesn't specify a token server")
    try:
        answer: Any = json.loads(download(f"{parameters['realm']}?{query}"))
        return str(answer.get("token") or answer["access_token"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DownloadError(
            "the registry rejects anonymous clients, and private repositories aren't supported"
        ) from None
