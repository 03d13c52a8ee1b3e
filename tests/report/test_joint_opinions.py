"""The difference of two juries' agreement with human labels, in words."""

import pytest

from jury_adapters.report.joint_opinions import AgreementDifference
from jury_adapters.statistics.differences import PairedCounts


@pytest.mark.parametrize(
    ("interval", "p", "end"),
    [
        ((-0.12, 0.01), 0.03, "p = 0.030). The exact test alone would rule out chance, but the interval includes 0, "
         "and it takes both."),
        ((-0.12, -0.01), 0.06, "p = 0.060). The interval excludes 0, but the exact test does not rule out chance."),
        ((-0.12, 0.01), 0.4, "p = 0.400)."),
        ((-0.12, -0.01), 0.01, "p = 0.010)."),
    ],
)  # fmt: skip
def test_why_no_difference_is_shown(interval, p, end):
    found = AgreementDifference("old", "new", PairedCounts(50, 12, 4, 34, 100, 100, 100), interval, p)
    assert str(found).endswith(end)
    assert ("no difference is shown" in str(found)) == (found.to_dict()["agrees_more"] is None)
