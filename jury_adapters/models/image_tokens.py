"""Input tokens of an image, by the published rules of its vendor."""

from __future__ import annotations

import re
from math import ceil
from typing import NamedTuple

from jury_adapters.core.images import Image


def image_tokens(image: Image, model: str) -> int:
    """Return the estimated number of input tokens of an image.

    - Anthropic: one token for each 28 x 28 pixels. Larger images are resized to 1,568 pixels on the longer side and
      1,600 tokens, or 2,576 pixels and 4,784 tokens from Claude Opus 4.7 on
      (https://platform.claude.com/docs/en/build-with-claude/vision).
    - OpenAI, patches: one token for each 32 x 32 pixels, at most 1,536, times a factor of the model; see
      https://platform.openai.com/docs/guides/images-vision.
    - OpenAI, tiles: the image is resized to fit into 2,048 x 2,048 pixels and to 768 pixels on the shorter side. Each
      512 x 512 pixels have a price, on top of a base price; same source.
    - Any other model: the larger of Anthropic's and OpenAI's numbers for its newer models, because local models differ.

    An image of unknown size, such as one at an address, counts as the largest one.

    Args:
        image: the image.
        model: the model's own name, such as ``"gpt-4.1-mini"``.

    >>> image_tokens(Image(url="https://example.org/chart.png"), "gpt-4o")
    1445
    """
    width, height = (image.width, image.height) if image.width else _LARGEST
    name = model.rpartition("/")[2].lower()
    if "claude" in name:
        return _claude(width, height, _OLDER_CLAUDE.search(name) is not None)
    for prefix, factor in _PATCHES:
        if name.startswith(prefix):
            return ceil(_patches(width, height) * factor)
    for prefix, prices in _TILES:
        if name.startswith(prefix):
            return _tiles(width, height, prices)
    return max(_claude(width, height, older=False), _tiles(width, height, _Prices(85, 170)))


class _Prices(NamedTuple):
    base: int
    tile: int


def _claude(width: int, height: int, older: bool) -> int:
    longest, most = (1568, 1600) if older else (2576, 4784)
    scale = min(1.0, longest / max(width, height))
    return min(most, ceil(width * scale / 28) * ceil(height * scale / 28))


def _patches(width: int, height: int) -> int:
    return min(1536, ceil(width / 32) * ceil(height / 32))


def _tiles(width: int, height: int, prices: _Prices) -> int:
    scale = min(1.0, 2048 / max(width, height))
    width, height = ceil(width * scale), ceil(height * scale)
    scale = min(1.0, 768 / min(width, height))
    tiles = ceil(width * scale / 512) * ceil(height * scale / 512)
    return prices.base + prices.tile * tiles


_LARGEST = (8000, 3000)  # pixels; of the sides with the most tiles
_OLDER_CLAUDE = re.compile(r"claude-(?:2|3|instant|(?:opus|sonnet|haiku)-[34](?:-[0-6])?(?:-\d{8})?$)")
# The first prefix that fits counts. Factors and prices of OpenAI's page on images.
_PATCHES = (
    ("gpt-4.1-mini", 1.62), ("gpt-4.1-nano", 2.46), ("gpt-5-mini", 1.62), ("gpt-5-nano", 2.46), ("o4-mini", 1.72),
)  # fmt: skip
_TILES = (
    ("gpt-4o-mini", _Prices(2833, 5667)), ("gpt-4o", _Prices(85, 170)), ("gpt-4.1", _Prices(85, 170)),
    ("gpt-4.5", _Prices(85, 170)), ("chatgpt-4o", _Prices(85, 170)), ("gpt-5", _Prices(70, 140)),
    ("o1", _Prices(75, 150)), ("o3", _Prices(75, 150)),
)  # fmt: skip
