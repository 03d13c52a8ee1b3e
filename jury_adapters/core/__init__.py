"""The vendor-neutral core: cases, judges, votes, cascades, agreement. It imports the standard library and pydantic."""
