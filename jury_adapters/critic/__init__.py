"""Judges that ask a model, and judges that repeat recorded judgments."""
