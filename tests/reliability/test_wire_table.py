"""The table of faults in the documentation is the list of faults that the tests run."""

from tests.reliability.wire_table import TABLE, expected, page


def test_every_row_of_the_page_is_what_the_list_of_faults_expects():
    assert TABLE.read_text(encoding="utf-8").splitlines() == list(page(expected))
