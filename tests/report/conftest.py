"""The tests of reports call the command in this process."""

import tests.support.built_once  # noqa: F401
