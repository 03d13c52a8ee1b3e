"""Every fault of the table, in small: nothing lost, nothing twice, and no request more than the fault makes needed."""

import pytest

from jury_adapters.testing import no_waiting
from tests.reliability.fault_runs import run
from tests.reliability.faults import FAULTS

CASES = 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_nothing_is_lost(fault):
    with no_waiting():
        found = run(fault, CASES)
    assert found.kept, found
    assert found.injected > 0 or fault.name == "none"
    if fault.name.startswith("jitter"):
        assert found.retries == 0
    elif fault.timeout < 10:  # on a busy machine a good answer may be late too
        assert found.retries >= found.injected
    else:
        assert found.retries == found.injected
    assert bool(found.by_fallbacks) == fault.fallbacks
