"""Judges that ask a model, or repeat what a model once said."""
