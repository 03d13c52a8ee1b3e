"""Advice on what to do about the errors of models, by kind, for messages to users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ERROR_FIXES: Final[Mapping[str, str]] = {
    "authentication": "the key is refused: see that it is whole, of this vendor, and may use this model",
    "connection": "no server answers there: see that it runs, and that address and network are right",
    "timeout": "the server is slow or out of reach: try again, or another model",
    "quota_exhausted": "the account has no credit left: top it up, or see its limits at the vendor",
    "rate_limited": "the vendor's limit is reached: wait, or raise the rate limit of your account",
    "refused_request": "see that the model's name is right and your account may use it",
    "server": "the vendor has trouble: try again later",
    "broken_body": "what answers there is no such server: see the address",
    "malformed": "what answers there speaks another protocol: see the address and the vendor",
    "exception": "the model's own class raised it: see its settings, and that the server speaks its protocol",
}
"""Advice on a :class:`jury_adapters.ModelError` of each kind."""
