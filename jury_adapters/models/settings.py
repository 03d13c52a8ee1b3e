"""Defaults of requests to models."""

TIMEOUT_S = 60.0
"""Maximum duration of one request in seconds."""
TEMPERATURE = 0.0
"""Temperature that critics ask for."""
MAX_TOKENS = 2000
"""Maximum number of output tokens that critics ask for."""
