"""A server that answers as GitHub's and GitLab's APIs do, for comments on one request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Host:
    """Comments of a request, listed in pages. The host rejects a wrong token, and edits of comments
    that don't exist.
    """

    def __init__(self, token: str) -> None:
        self.comments: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str]] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                path, _, query = self.path.partition("?")
                host.calls.append((self.command, path))
                if token not in (
                    self.headers.get("Authorization", ""),
                    self.headers.get("PRIVATE-TOKEN", ""),
                ):
                    return self.reply(403, {})
                if self.command == "GET":
                    page = int(re.findall(r"[^_]page=(\d+)", query)[0])
                    return self.reply(200, host.comments[100 * (page - 1) : 100 * page])
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
                if self.command == "POST":
                    host.comments.append({"id": 1000 + len(host.comments), "body": body})
                    return self.reply(201, host.comments[-1])
                (found,) = [each for each in host.comments if path.endswith(f"/{each['id']}")]
                found["body"] = body
                return self.reply(200, found)

            do_GET = do_POST = do_PATCH = do_PUT = answer

            def reply(self, status: int, data: object) -> None:
                content = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@contextmanager
def running_host(kind: str) -> Iterator[Host]:
    """Run a host that accepts the token "secret"."""
    made = Host("Bearer secret" if kind == "github" else "secret")
    thread = threading.Thread(target=made.http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


def environment(kind: str, host: Host, folder: Path, token: str = "secret") -> dict[str, str]:
    (folder / "event.json").write_text('{"pull_request": {"number": 7}}')
    if kind == "github":
        return {
            "GITHUB_REPOSITORY": "acme/platform",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_API_URL": host.url,
            "GITHUB_TOKEN": token,
        }
    return {
        "CI_API_V4_URL": host.url,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
        "GITLAB_TOKEN": token,
    }
