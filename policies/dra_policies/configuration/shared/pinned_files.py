"""Downloads over HTTP that a digest pins, kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MOST_BYTES: Final = 4 * 2**20
TIMEOUT_S: Final = 60


class DownloadError(Exception):
    """A download that failed: the reason, and the response's status and headers if there was a
    response.

    `fix` is "" if the URL, the server, or the network is the cause.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        headers: Mapping[str, str] | None = None,
        *,
        fix: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.fix = message, fix
        self.status, self.headers = status, dict(headers or {})


def download(url: str, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a URL, at most one byte more than `MOST_BYTES`. Raises
    DownloadError.
    """
    try:
        request = Request(url, headers={"User-Agent": "pulumi-dra"})
        for name, value in (headers or {}).items():
            request.add_unredirected_header(name, value)  # storage rejects signed URLs with a token
        with urlopen(request, timeout=TIMEOUT_S) as response:
            content: bytes = response.read(MOST_BYTES + 1)
    except HTTPError as error:
        error.close()
        raise DownloadError(f"HTTP status {error.code}", error.code, dict(error.headers)) from None
    except (OSError, HTTPException, ValueError, OverflowError) as error:
        raise DownloadError(str(getattr(error, "reason", "") or error)) from None
    if len(content) > MOST_BYTES:
        raise too_large()
    return content


def too_large() -> DownloadError:
    """Return the error for a file of more than `MOST_BYTES`."""
    return DownloadError(
        f"the file is larger than {MOST_BYTES // 2**20} MiB", fix="use a smaller file"
    )


def pinned(sha256: str, folder: Path, fetch: Callable[[], bytes]) -> bytes:
    """Return the content with this digest from the folder, or fetch it and store it there.

    Raises DownloadError if the fetched content has another digest. A cached file that was changed
    is fetched again.
    """
    path = folder / "sha256" / sha256
    with suppress(OSError):
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
    content = fetch()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        fix = "correct the digest if the change is intended"
        raise DownloadError(f"its content has a different digest: sha256={found}", fix=fix)
    keep(path, content)
    return content


def keep(path: Path, content: bytes) -> None:
    """Write a file of the cache atomically. If writing fails, later runs are slower."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
