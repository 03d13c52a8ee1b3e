"""Defaults of requests to models."""

TIMEOUT_S = 60.0
"""Maximum duration of one request in seconds."""
