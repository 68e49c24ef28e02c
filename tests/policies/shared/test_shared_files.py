"""`extends` and shared fleets: from files, local git repositories, and a local HTTP server and
registry.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_sources import RULES, Server, configured, digest, git, push

from dra_planner.errors import PlannerError
from dra_policies.configuration.shared import fetching
from dra_policies.configuration.shared.locations import parse_location


class TestMerging:
    def test_the_projects_own_file_takes_precedence(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text(RULES)

        found = configured(
            tmp_path,
            "extends: [base.yaml]\nrules: {security-baseline: disabled}\nthresholds: "
            "{cost-above-ceiling: 5}\n",
        )

        assert found.settings.levels == {"no-spot": "mandatory", "security-baseline": "disabled"}
        assert found.settings.thresholds == {"cost-above-ceiling": 5}
        assert found.settings.exclude == ["charts"]
        assert [rule.id for rule in found.custom] == ["no-spot"]

    def test_a_level_without_an_expression_changes_a_shared_rule(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text(RULES)

        found = configured(tmp_path, "extends: [base.yaml]\nrules: {no-spot: advisory}\n")

        assert [(rule.id, rule.level) for rule in found.custom] == [("no-spot", "advisory")]

    def test_a_shared_rule_of_a_project_cannot_be_remediated(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text(RULES)

        with pytest.raises(
            PlannerError, match=("use remediate only for these rules: pool-differs-from-plan")
        ):
            configured(tmp_path, "extends: [base.yaml]\nrules: {no-spot: remediate}\n")

    def test_exemptions_keep_their_places(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text(RULES)
        own = "exemptions:\n  - {rule: no-spot, object: pool cheap, reason: batch}\n"

        found = configured(tmp_path, f"extends: [base.yaml]\n{own}")

        assert [(Path(each.file).name, each.line) for each in found.places] == [
            ("base.yaml", 10),
            ("pulumi-dra.yaml", 3),
        ]

    def test_outages_are_inherited(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text("outages: advisory\n")
        assert configured(tmp_path, "extends: [base.yaml]\n").settings.outages == "advisory"
        assert (
            configured(tmp_path, "extends: [base.yaml]\noutages: mandatory\n").settings.outages
            == "mandatory"
        )

    def test_later_files_take_precedence(self, tmp_path: Path) -> None:
        (tmp_path / "one.yaml").write_text("thresholds: {cost-above-ceiling: 1}\n")
        (tmp_path / "two.yaml").write_text("thresholds: {cost-above-ceiling: 2}\n")
        assert configured(tmp_path, "extends: [one.yaml, two.yaml]\n").settings.thresholds == {
            "cost-above-ceiling": 2
        }

    def test_an_error_reports_the_shared_file(self, tmp_path: Path) -> None:
        (tmp_path / "base.yaml").write_text("rules:\n  no-such-rule: advisory\n")

        with pytest.raises(PlannerError) as caught:
            configured(tmp_path, "extends: [base.yaml]\n")

        assert str(caught.value.place).endswith("base.yaml:2 rules.no-such-rule")


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ("gone.yaml", "gone.yaml doesn't exist"),
        ("pulumi-dra.yaml", "extends itself"),
        ("https://example.com/a.yaml", "the URL doesn't have a digest, so its content could change without notice"),
        ("https://example.com/a.yaml#sha256=abc", 'the digest "sha256=abc" isn\'t sha256= with 64 hexadecimal digits'),
        ("git+https://example.com/a.git", "the git URL doesn't have a ref"),
        ("git+ext::sh -c whoami@v1", '"ext" git URLs'),
        ("git+http://example.com/a.git@v1", '"http" git URLs'),
        ("git+https://example.com/a.git@--upload-pack=x", "the git URL doesn't have a ref"),
        ("git+https://example.com/a.git@v1#../../etc/passwd", "is outside the repository"),
        ("oci://example.com/a", "invalid OCI reference"),
        ("s3://bucket/a.yaml", "unsupported URL scheme"),
        ("https://[::1", "the URL isn't valid"),
        ("git+https://[example.com/a.git@v1", "the URL isn't valid"),
        ("git+file:///a@v1\\0", "the URL isn't valid"),
        ("oci://[example.com/a:v1", "the URL isn't valid"),
        ("oci://localhost:99999999999999999999/a:v1", "the URL isn't valid"),
        ("https://example\u2100.com/a.yaml", "the URL isn't valid"),
    ],
)  # fmt: skip
def test_a_wrong_location_reports_its_place(tmp_path: Path, extends: str, message: str) -> None:
    with pytest.raises(PlannerError) as caught:
        configured(tmp_path, f'extends:\n  - "{extends}"\n')

    assert message in caught.value.message
    assert str(caught.value.place).endswith("pulumi-dra.yaml:2 extends[0]")
    assert caught.value.fix


class TestGit:
    def test_a_tag_and_relative_paths_are_resolved(self, tmp_path: Path, repository: Path) -> None:
        found = configured(tmp_path, f"extends: ['git+file://{repository}@v1']\n")

        assert [rule.id for rule in found.custom] == ["no-spot"]
        assert str(found.places[0]) == f"git+file://{repository}@v1#rules/gpu.yaml:10 exemptions[0]"
        assert str(found.fleets["prod"]) == f"git+file://{repository}@v1#fleets/prod.yaml"

    def test_a_branch_is_fetched_at_its_latest_commit(
        self, tmp_path: Path, repository: Path
    ) -> None:
        assert configured(tmp_path, f"extends: ['git+file://{repository}@main']\n").custom == ()

    def test_a_commit_is_cached(self, tmp_path: Path, repository: Path) -> None:
        commit = git(repository, "rev-parse", "v1^{commit}")
        text = f"extends: ['git+file://{repository}@{commit}#rules/gpu.yaml']\n"
        assert len(configured(tmp_path, text).custom) == 1
        repository.rename(tmp_path / "elsewhere")
        fetching._content.cache_clear()

        assert len(configured(tmp_path, text).custom) == 1

    @pytest.mark.parametrize(
        ("ref", "path", "message"),
        [
            ("v9", "rules/gpu.yaml", "couldn't find remote ref v9"),
            ("v1", "gone.yaml", "gone.yaml"),
            ("v1", "rules", ""),
        ],
    )
    def test_a_missing_ref_or_file_is_reported(
        self, tmp_path: Path, repository: Path, ref: str, path: str, message: str
    ) -> None:
        with pytest.raises(PlannerError) as caught:
            configured(tmp_path, f"extends: ['git+file://{repository}@{ref}#{path}']\n")

        assert f"git+file://{repository}@{ref}#{path} can't be fetched: " in caught.value.message
        assert message in caught.value.message
        assert "extends[0]" in str(caught.value.place)

    def test_a_password_is_not_shown(self, tmp_path: Path) -> None:
        with pytest.raises(PlannerError) as caught:
            configured(tmp_path, "extends: ['git+https://user:hunter2@127.0.0.1:9/a.git@v1']\n")

        assert "hunter2" not in str(caught.value)


class TestHttp:
    def test_a_file_with_its_digest_is_fetched(self, tmp_path: Path, server: Server) -> None:
        server.pages["/rules.yaml"] = RULES.encode()
        text = f"extends: ['{server.url}/rules.yaml#sha256={digest(RULES.encode())}']\n"

        assert len(configured(tmp_path, text).custom) == 1

        fetching._content.cache_clear()
        assert len(configured(tmp_path, text).custom) == 1
        assert server.requests == ["/rules.yaml"]  # the second time from the cache

    def test_a_changed_file_is_rejected(self, tmp_path: Path, server: Server) -> None:
        server.pages["/rules.yaml"] = RULES.encode() + b"\n"

        with pytest.raises(
            PlannerError, match="its content has a different digest: sha256="
        ) as caught:
            configured(
                tmp_path, f"extends: ['{server.url}/rules.yaml#sha256={digest(RULES.encode())}']\n"
            )
        assert "correct the digest" in caught.value.fix

    def test_a_cached_file_that_was_changed_is_fetched_again(
        self, tmp_path: Path, server: Server, scratch_cache: Path
    ) -> None:
        server.pages["/rules.yaml"] = RULES.encode()
        name = digest(RULES.encode())
        (scratch_cache / "sha256").mkdir(parents=True)
        (scratch_cache / "sha256" / name).write_text("rules: {}\n")

        assert (
            len(
                configured(tmp_path, f"extends: ['{server.url}/rules.yaml#sha256={name}']\n").custom
            )
            == 1
        )

    def test_a_missing_file_is_reported(self, tmp_path: Path, server: Server) -> None:
        with pytest.raises(PlannerError, match="HTTP status 404"):
            configured(tmp_path, f"extends: ['{server.url}/gone.yaml#sha256={'0' * 64}']\n")

    def test_a_huge_file_is_rejected(self, tmp_path: Path, server: Server) -> None:
        server.pages["/huge"] = b"a" * (5 * 2**20)
        with pytest.raises(PlannerError, match="larger than 4 MiB"):
            configured(
                tmp_path, f"extends: ['{server.url}/huge#sha256={digest(server.pages['/huge'])}']\n"
            )


class TestRegistry:
    def test_an_artifact_is_pulled_by_tag(self, tmp_path: Path, server: Server) -> None:
        push(server, gpu=RULES)

        assert (
            len(configured(tmp_path, f"extends: ['oci://{server.host}/acme/rules:v1']\n").custom)
            == 1
        )
        assert any(path.startswith("/token?service=s&scope=") for path in server.requests)

    def test_an_artifact_with_several_files_is_pulled_by_digest(
        self, tmp_path: Path, server: Server
    ) -> None:
        found = push(server, gpu=RULES, all="extends: [gpu.yaml]\n")

        text = f"extends: ['oci://{server.host}/acme/rules@sha256:{found}#all.yaml']\n"

        assert len(configured(tmp_path, text).custom) == 1

    def test_tokens_are_not_sent_to_redirected_storage(
        self, tmp_path: Path, server: Server
    ) -> None:
        """Given a registry that redirects to a signed URL, expect the token to stay with the
        registry.
        """
        push(server, gpu=RULES)
        blob = next(path for path in server.pages if "/blobs/" in path)
        server.pages["/signed"] = server.pages.pop(blob)
        server.redirects[blob] = f"{server.url}/signed"

        assert (
            len(configured(tmp_path, f"extends: ['oci://{server.host}/acme/rules:v1']\n").custom)
            == 1
        )

    @pytest.mark.parametrize(
        "target", ["http://[::1", "http://localhost:99999999999999999999/a", "httpx://a"]
    )
    def test_an_invalid_redirect_is_reported(
        self, tmp_path: Path, server: Server, target: str
    ) -> None:
        push(server, gpu=RULES)
        server.redirects["/v2/acme/rules/manifests/v1"] = target
        with pytest.raises(PlannerError, match="can't be downloaded"):
            configured(tmp_path, f"extends: ['oci://{server.host}/acme/rules:v1']\n")

    def test_an_artifact_with_several_files_needs_a_file_name(
        self, tmp_path: Path, server: Server
    ) -> None:
        push(server, gpu=RULES, all="rules: {}\n")
        with pytest.raises(PlannerError, match=r"it contains gpu.yaml, all.yaml"):
            configured(tmp_path, f"extends: ['oci://{server.host}/acme/rules:v1']\n")

    def test_a_blob_that_was_changed_is_rejected(self, tmp_path: Path, server: Server) -> None:
        push(server, gpu=RULES)
        blob = next(path for path in server.pages if "/blobs/" in path)
        server.pages[blob] = b"rules: {}\n"
        with pytest.raises(PlannerError, match="different digest"):
            configured(tmp_path, f"extends: ['oci://{server.host}/acme/rules:v1']\n")


def test_a_location_is_printed_as_it_was_written() -> None:
    for text in (
        "git+https://github.com/acme/platform.git@v3#rules/gpu.yaml",
        "git+ssh://git@github.com/acme/platform.git@main#pulumi-dra.yaml",
        f"https://example.com/fleet.yaml#sha256={'0' * 64}",
        f"oci://ghcr.io/acme/rules@sha256:{'a' * 64}#gpu.yaml",
        "oci://localhost:5000/rules:v1",
    ):
        assert str(parse_location(text)) == text
