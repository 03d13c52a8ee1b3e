"""Judging in the background, while an application runs: the docket, its options, the counts and the sinks."""
