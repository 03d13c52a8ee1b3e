"""Names from other packages, as thin layers over this one; for migration, not for new code."""
