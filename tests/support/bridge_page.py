"""A page about a bridge, the tool that finds it, and the response that an agent gives about it."""

from langchain_core.tools import tool
from pydantic import BaseModel

PAGE = "The bridge opened in 1994."


@tool
def search(query: str) -> str:
    """Look it up."""
    return PAGE


class Year(BaseModel):
    """The year."""

    year: str
    source: str = "the page"
