"""A small Ray cluster on this machine, without dashboard, telemetry and noise."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def local_cluster() -> Iterator[None]:
    """Two cores, only loopback as this machine's address; gone at the end."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = str(ROOT)  # workers import the juries of the tests
    import ray

    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=200_000_000,
        _node_ip_address="127.0.0.1",
    )
    try:
        yield
    finally:
        ray.shutdown()
