"""Error of a calibration without a guarantee."""

from __future__ import annotations

from jury_adapters.calibration.grant_rates import GrantRates
from jury_adapters.core.errors import ConfigurationError


class CalibrationFailed(ConfigurationError):
    """Error for labelled cases that cannot show the required agreement.

    There are too few of them, the jury is not good enough, or the budget was spent before all were judged.

    Args:
        message: the reason, and what would help.
        grants: the rates at which calibrations of these sizes grant the guarantee; None if there are too few labels for
            any, or no verdicts.

    Attributes:
        grants: the same rates.
    """

    def __init__(self, message: str, grants: GrantRates | None = None) -> None:
        self.grants = grants
        super().__init__(message)
