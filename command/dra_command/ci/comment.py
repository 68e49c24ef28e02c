"""A single comment on a pull or merge request, which the command finds by its first line and
edits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from msgspec import Struct

MOST_CHARACTERS: Final = 65_000
_PAGE: Final = 100
_MOST_PAGES: Final = 30
_SECONDS: Final = 30


class CommentError(Exception):
    """Reason why a comment can't be written. The checks aren't affected."""


class Thread(Struct, frozen=True, kw_only=True):
    """The comments of one pull or merge request on a host. `edit` is the URL of a comment without
    its ID, and `method` is the HTTP method that edits a comment.
    """

    comments: str
    edit: str
    method: str
    headers: Mapping[str, str]

    def write(self, mark: str, body: str) -> None:
        """Edit the comment whose first line is the mark, or add a comment. Raises CommentError."""
        text = f"{mark}\n{body}"
        found = next(
            (each for each in self._all() if str(each.get("body", "")).startswith(mark)), None
        )
        if found is None:
            self._request("POST", self.comments, {"body": text})
        elif found["body"] != text:
            self._request(self.method, f"{self.edit}/{found['id']}", {"body": text})

    def _all(self) -> Iterator[Mapping[str, Any]]:
        for page in range(1, _MOST_PAGES + 1):
            found = self._request("GET", f"{self.comments}?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return

    def _request(self, method: str, url: str, data: object = None) -> Any:
        content = None if data is None else json.dumps(data).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "pulumi-dra", **self.headers}
        request = Request(url, data=content, headers=headers, method=method)
        try:
            with urlopen(request, timeout=_SECONDS) as response:
                return json.load(response)
        except HTTPError as error:
            error.close()
            raise CommentError(f"{method} {url.partition('?')[0]} returned {error.code}") from None
        except (URLError, OSError, ValueError) as error:
            raise CommentError(f"{method} {url.partition('?')[0]} failed: {error}") from None


def find_thread(host: str, environment: Mapping[str, str]) -> Thread | None:
    """Return the comments of the pull or merge request for which a pipeline runs. None if there is
    no request, or if the host isn't supported. Raises CommentError if there is a request, but no
    token.
    """
    if host in ("auto", "github") and environment.get("GITHUB_REPOSITORY"):
        return _github(environment)
    if host in ("auto", "gitlab") and environment.get("CI_MERGE_REQUEST_IID"):
        return _gitlab(environment)
    return None


def _github(environment: Mapping[str, str]) -> Thread | None:
    try:
        event = json.loads(
            Path(environment.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8")
        )
        number = int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not environment.get("GITHUB_TOKEN"):
        raise CommentError("GITHUB_TOKEN isn't set")
    api = environment.get("GITHUB_API_URL") or "https://api.github.com"
    issues = f"{api}/repos/{environment['GITHUB_REPOSITORY']}/issues"
    headers = {
        "Authorization": f"Bearer {environment['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
    }
    return Thread(
        comments=f"{issues}/{number}/comments",
        edit=f"{issues}/comments",
        method="PATCH",
        headers=headers,
    )


def _gitlab(environment: Mapping[str, str]) -> Thread:
    if not environment.get("GITLAB_TOKEN"):
        raise CommentError(
            "GITLAB_TOKEN isn't set. Comments need a token with the api scope, because job "
            "tokens can't write comments"
        )
    project = f"{environment['CI_API_V4_URL']}/projects/{environment['CI_PROJECT_ID']}"
    notes = f"{project}/merge_requests/{environment['CI_MERGE_REQUEST_IID']}/notes"
    headers = {"PRIVATE-TOKEN": environment["GITLAB_TOKEN"]}
    return Thread(comments=notes, edit=notes, method="PUT", headers=headers)
