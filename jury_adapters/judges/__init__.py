"""Ready-made judges."""
