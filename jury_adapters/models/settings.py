"""Defaults of requests to models."""

TIMEOUT_S = 60.0
"""Seconds that one request may take."""
