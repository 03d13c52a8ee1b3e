"""Default prompts of cross-judge's former API, for a :class:`Reviewer`."""

DEFAULT_SYSTEM_PROMPT = (
    "You are a careful judge. Read the item and output a strict JSON object with the schema described in the user "
    "message. Output JSON only, no commentary, no markdown fences."
)
DEFAULT_USER_PROMPT_TEMPLATE = """Judge the following item.

Item:
{item}

Output JSON only, exact schema:
{{
  "verdict": "<one of: {labels}>",
  "confidence": <float 0.0-1.0>,
  "rationale": "<1-3 sentences>"
}}
"""


def render_user_prompt(item: str, labels: list[str]) -> str:
    """Return the prompt for a :class:`Reviewer`, with an item and the allowed labels."""
    return DEFAULT_USER_PROMPT_TEMPLATE.format(item=item, labels=" | ".join(labels))
