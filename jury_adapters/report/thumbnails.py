"""Images of cases in reports: small ones on the page, the others by their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.formatting import visible
from jury_adapters.core.images import Image
from jury_adapters.core.values import JsonValue

LARGEST = 1 << 17
"""Characters of Base64 of the largest image that a report keeps: about 96 KiB of a file."""
LARGEST_PAGE = 1 << 23
"""Characters of Base64 of all images on a page; further images are only described."""


def with_small_images(case: Case) -> Case:
    """Return the case without the contents of large images, which a report does not keep in memory."""
    if not any(image.base64 is not None and len(image.base64) > LARGEST for image in case.attachments):
        return case
    kept = [
        image if image.base64 is None or len(image.base64) <= LARGEST
        else Image(digest=image.digest, mime_type=image.mime_type, role=image.role)
        for image in case.attachments
    ]  # fmt: skip
    return case.model_copy(update={"attachments": kept})


def described(image: Image) -> str:
    """Return an image in words: its role, type, size, and digest or address."""
    size = f"{image.width} x {image.height} pixels" if image.width else ""
    source = image.url or image.problem or image.digest[: len("sha256:") + 12]
    return visible(", ".join(part for part in (image.role, image.mime_type, size, source) if part))


@dataclass
class Thumbnails:
    """Images on a page, until they take more than :data:`LARGEST_PAGE` characters."""

    left: int = LARGEST_PAGE

    def of(self, images: Sequence[Image]) -> list[JsonValue]:
        """Return the description of each image, with its content as a ``data:`` URL if it is at hand and fits."""
        return [{"about": described(image), **self._source(image)} for image in images]

    def _source(self, image: Image) -> dict[str, JsonValue]:
        length = 0 if image.base64 is None else len(image.base64)
        if not length or length > min(self.left, LARGEST):
            return {}
        self.left -= length
        return {"source": image.data_url}
