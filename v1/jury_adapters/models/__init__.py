"""Models: the port through which critics reach language models, and what stands behind it."""
