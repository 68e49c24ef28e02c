"""Where shared files come from: git repositories, and an HTTP server that is a registry too."""

from __future__ import annotations

import hashlib
import json
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from dra_policies.configuration.reading import Configured, read_configuration

RULES = """\
rules:
  no-spot:
    for: pool
    expression: pool.capacity != "spot"
    message: Spot isn't allowed
  security-baseline: mandatory
thresholds: {cost-above-ceiling: 1000}
exclude: [charts]
exemptions:
  - {rule: security-baseline, object: NodeGroup old, reason: being replaced}
"""


def configured(folder: Path, text: str) -> Configured:
    (folder / "pulumi-dra.yaml").write_text(text)
    return read_configuration(str(folder / "pulumi-dra.yaml"))


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(folder), *words],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server:
    """An HTTP server with some pages; `/v2/` paths want a token, and `/signed` rejects one, as
    storage does.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.requests: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                if self.path.startswith("/token"):
                    self.answer(200, b'{"token": "abc"}')
                elif (
                    self.path.startswith("/v2/")
                    and self.headers.get("Authorization") != "Bearer abc"
                ):
                    realm = (
                        f'Bearer realm="{server.url}/token",service="s",scope="repository:a:pull"'
                    )
                    self.answer(401, b"", realm)
                elif self.path in server.redirects:
                    self.answer(307, b"", location=server.redirects[self.path])
                elif self.path == "/signed" and self.headers.get("Authorization"):
                    self.answer(400, b"")
                elif self.path in server.pages:
                    self.answer(200, server.pages[self.path])
                else:
                    self.answer(404, b"")

            def answer(
                self, status: int, content: bytes, challenge: str = "", location: str = ""
            ) -> None:
                self.send_response(status)
                if location:
                    self.send_header("Location", location)
                if challenge:
                    self.send_header("WWW-Authenticate", challenge)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing to standard error."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.http.server_port}"
        self.url = f"http://{self.host}"


def push(server: Server, **files: str) -> str:
    """Put an artifact there, as `oras push` does; return its digest."""
    layers = []
    for name, text in files.items():
        content = text.encode()
        server.pages[f"/v2/acme/rules/blobs/sha256:{digest(content)}"] = content
        title = {"org.opencontainers.image.title": f"{name}.yaml"}
        layers.append(
            {"digest": f"sha256:{digest(content)}", "size": len(content), "annotations": title}
        )
    manifest = json.dumps({"schemaVersion": 2, "layers": layers}).encode()
    server.pages["/v2/acme/rules/manifests/v1"] = manifest
    server.pages[f"/v2/acme/rules/manifests/sha256:{digest(manifest)}"] = manifest
    return digest(manifest)
