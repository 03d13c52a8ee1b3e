"""Background judging while an application runs: the queue, its options, the counts of runs, and the sinks."""
