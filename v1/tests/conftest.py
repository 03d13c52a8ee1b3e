"""For all regions: ``fact_tables`` can be imported, since this folder is; one certificate authority; new garbage."""

import gc

import pytest
import trustme


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory):
    """Each HTTP client reads all authorities that are trusted. To read one takes no time, to read 140 takes 25 ms."""
    path = tmp_path_factory.mktemp("authorities") / "one.pem"
    trustme.CA().cert_pem.write_to_path(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture
def only_new_garbage():
    """Let the collector see what a test makes. To go through all objects of a test run takes a second."""
    gc.freeze()
    yield
    gc.unfreeze()
