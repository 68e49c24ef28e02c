"""Image settings of charts: a mirror, a digest, and pull secrets."""

from msgspec import Struct

from pulumi_dra.inputs.reader import InputReader

SECRET_NAME = "[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"


class ImageSettings(Struct, frozen=True):
    """Image settings of a chart. If empty, the chart's defaults apply."""

    repository: str = ""
    digest: str = ""
    pull_secrets: tuple[str, ...] = ()

    def values(self, version: str) -> dict[str, str]:
        """Return a chart's `image` values for a version: its default tag, pinned by the digest."""
        image = {
            "repository": self.repository,
            "tag": f"v{version}@{self.digest}" if self.digest else "",
        }
        return {key: value for key, value in image.items() if value}


def read_image(read: InputReader) -> ImageSettings:
    """Return `image_repository`, `image_digest`, and `image_pull_secrets`. Errors are recorded in
    `read`.
    """
    return ImageSettings(
        read_repository(read),
        read.text(
            "image_digest",
            "",
            pattern="sha256:[0-9a-f]{64}",
            meaning="a digest (sha256: and 64 digits)",
        ),
        tuple(read.texts("image_pull_secrets", pattern=SECRET_NAME, meaning="a Secret's name")),
    )


def read_repository(read: InputReader) -> str:
    """Return `image_repository`, an image without a tag, and record errors in `read`."""
    return read.text("image_repository", "", check=_repository_fault)


def _repository_fault(text: str) -> str:
    """Return the problem with an image name, or "". A tag would conflict with the chart's tag."""
    if "@" in text or ":" in text.rpartition("/")[2]:
        return f'"{text}" must not have a tag or a digest; to pin the image, set image_digest'
    return (
        f'"{text}" isn\'t a valid image'
        if "://" in text or any(letter.isspace() for letter in text)
        else ""
    )
