"""Names that people know from other packages, as thin layers over ours; for moving in, not for new code."""
