"""After the fix for a location that can't be read is followed, the configuration is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_sources import RULES, Server, configured, digest, git, push

from dra_planner.errors import PlannerError

OF_RULES = digest(RULES.encode())


def assert_fix_works(folder: Path, before: str, fix: str, after: str) -> None:
    """Require that one location is refused with this fix, and that the location after the fix is
    read.
    """
    with pytest.raises(PlannerError) as caught:
        configured(folder, f'extends:\n  - "{before}"\n')
    assert caught.value.fix == fix
    assert str(caught.value.place).endswith("pulumi-dra.yaml:2 extends[0]")
    assert [rule.id for rule in configured(folder, f'extends:\n  - "{after}"\n').custom] == [
        "no-spot"
    ]


@pytest.mark.parametrize(
    ("before", "fix", "after"),
    [
        (
            "git+{path}@v1",
            "use the form git+https://HOST/REPOSITORY.git@REF#PATH",
            "git+file://{path}@v1",
        ),
        (
            "git+file://{path}",
            "add a commit, tag, or branch: git+file://{path}@REF",
            "git+file://{path}@v1",
        ),
        ("git://{path}@v1", "use git+https, git+ssh, https, or oci", "git+file://{path}@v1"),
        (
            "git+file://{path}@v9",
            "check the URL, the ref (a branch, tag, or full commit hash), and git's credentials",
            "git+file://{path}@v1",
        ),
        (
            "git+file://{path}@v1#gpu.yaml",
            "use a file that exists at v1",
            "git+file://{path}@v1#rules/gpu.yaml",
        ),
        (
            "git+file://{path}@v1#rules",
            "use the path of a file instead of a folder",
            "git+file://{path}@v1#rules/gpu.yaml",
        ),
        (
            "git+file://{path}@v1#../rules/gpu.yaml",
            "use a path in the repository",
            "git+file://{path}@v1#rules/gpu.yaml",
        ),
    ],
    ids=["scheme", "ref", "kind", "unknown-ref", "path", "folder", "outside"],
)
def test_a_file_of_a_repository(
    tmp_path: Path, repository: Path, before: str, fix: str, after: str
) -> None:
    assert_fix_works(tmp_path, *(each.format(path=repository) for each in (before, fix, after)))


def test_an_abbreviated_commit_must_be_written_in_full(tmp_path: Path, repository: Path) -> None:
    commit = git(repository, "rev-parse", "v1^{commit}")
    fix = "check the URL, the ref (a branch, tag, or full commit hash), and git's credentials"
    assert_fix_works(
        tmp_path, f"git+file://{repository}@{commit[:8]}", fix, f"git+file://{repository}@{commit}"
    )


@pytest.mark.parametrize(
    ("before", "fix", "after"),
    [
        (
            "{url}/gpu.yaml",
            "add the digest of the file: {url}/gpu.yaml#sha256=DIGEST (sha256sum FILE prints it)",
            "{url}/gpu.yaml#sha256={digest}",
        ),
        (
            "{url}/gpu.yaml#sha256={other}",
            "correct the digest if the change is intended",
            "{url}/gpu.yaml#sha256={digest}",
        ),
        (
            "{url}/gpus.yaml#sha256={digest}",
            "check the URL and your network",
            "{url}/gpu.yaml#sha256={digest}",
        ),
        ("{url}/huge.yaml#sha256={digest}", "use a smaller file", "{url}/gpu.yaml#sha256={digest}"),
        (
            "http://[::1/gpu.yaml#sha256={digest}",
            "check the host, the port, and special characters",
            "{url}/gpu.yaml#sha256={digest}",
        ),
    ],
    ids=["no-digest", "other-digest", "url", "huge", "host"],
)
def test_a_file_at_a_url(tmp_path: Path, server: Server, before: str, fix: str, after: str) -> None:
    server.pages |= {"/gpu.yaml": RULES.encode(), "/huge.yaml": b"a" * (5 * 2**20)}
    values = {"url": server.url, "digest": OF_RULES, "other": "0" * 64}
    assert_fix_works(tmp_path, *(each.format(**values) for each in (before, fix, after)))


def test_a_relative_path_in_a_file_at_a_url_must_be_a_url(tmp_path: Path, server: Server) -> None:
    def base(extended: str) -> str:
        """Publish a configuration that extends a location, and return its URL."""
        text = f"extends: ['{extended}']\n".encode()
        server.pages["/base.yaml"] = text
        return f"extends: ['{server.url}/base.yaml#sha256={digest(text)}']\n"

    server.pages["/gpu.yaml"] = RULES.encode()
    with pytest.raises(PlannerError) as caught:
        configured(tmp_path, base("gpu.yaml"))
    assert caught.value.fix == "use the full URL of the extended file"
    found = configured(tmp_path, base(f"{server.url}/gpu.yaml#sha256={OF_RULES}"))
    assert [rule.id for rule in found.custom] == ["no-spot"]


@pytest.mark.parametrize(
    ("before", "fix", "after"),
    [
        ("oci://{host}/acme/rules", (
            "use the form oci://REGISTRY/REPOSITORY:TAG, or oci://REGISTRY/REPOSITORY@sha256:DIGEST"
        ), "oci://{host}/acme/rules:v1#gpu.yaml"),
        ("oci://{host}/acme/rules:v1", "add #FILE to the location", "oci://{host}/acme/rules:v1#gpu.yaml"),
        ("oci://{host}/acme/rules:v1#gpus.yaml", "correct the file name after #", "oci://{host}/acme/rules:v1#gpu.yaml"),
        ("oci://{host}/acme/rules:image", "push the file with `oras push`", "oci://{host}/acme/rules:v1#gpu.yaml"),
        ("oci://{host}/acme/rules:index", "push the file with `oras push`", "oci://{host}/acme/rules:v1#gpu.yaml"),
    ],
    ids=["no-tag", "several-files", "other-file", "image", "index"],
)  # fmt: skip
def test_a_file_of_an_artifact(
    tmp_path: Path, server: Server, before: str, fix: str, after: str
) -> None:
    """An image has layers without titles, and an index has no layers."""
    push(server, gpu=RULES, all="rules: {}\n")
    layer = f'{{"layers": [{{"digest": "sha256:{OF_RULES}"}}, {{"digest": "sha256:{OF_RULES}"}}]}}'
    server.pages["/v2/acme/rules/manifests/image"] = layer.encode()
    server.pages["/v2/acme/rules/manifests/index"] = b'{"manifests": []}'
    assert_fix_works(tmp_path, *(each.format(host=server.host) for each in (before, fix, after)))
