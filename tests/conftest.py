"""For all regions: ``fact_tables`` can be imported, since this folder is; and two things that took most of the time."""

import gc

import pytest
import trustme

gc.set_threshold(0)  # no collection while a million objects are imported, which stay


def pytest_collection_finish():
    """Keep what was imported from the garbage collector, which would take a second to go through it each time."""
    gc.freeze()
    gc.set_threshold(20_000)  # a test makes thousands of objects, and 700 are not worth a look


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory):
    """Each HTTP client reads all authorities that are trusted. To read one takes no time, to read 140 takes 25 ms."""
    path = tmp_path_factory.mktemp("authorities") / "one.pem"
    trustme.CA().cert_pem.write_to_path(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield
