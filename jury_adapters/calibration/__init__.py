"""Statistics of juries: agreement, biases, rates, reliabilities, and cascades with a guarantee.

Importing this package loads no further module: each name is loaded when it is first used. All of it needs NumPy, which
comes with the extra ``stats``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.calibration.agreement import (
        alpha,
        cohen_kappa,
        fleiss_kappa,
        gwet_ac,
        label_shares,
        raw_agreement,
    )
    from jury_adapters.calibration.bias import position_consistency, verbosity
    from jury_adapters.calibration.cascade_calibration import calibrate
    from jury_adapters.calibration.estimates import Estimate
    from jury_adapters.calibration.failure import CalibrationFailed
    from jury_adapters.calibration.guarantee import Guarantee
    from jury_adapters.calibration.independence import effective_votes
    from jury_adapters.calibration.juror_drift import drift
    from jury_adapters.calibration.juror_stats import dissent, leniency
    from jury_adapters.calibration.latent import dawid_skene
    from jury_adapters.calibration.pass_rate import prediction_powered_rate, rogan_gladen, true_pass_rate
    from jury_adapters.calibration.preferences import self_preference
    from jury_adapters.calibration.reliabilities import Reliability, fit_reliabilities
    from jury_adapters.calibration.report import AgreementReport, agreement_report
    from jury_adapters.calibration.suggestions import suggest
    from jury_adapters.calibration.votes import Votes

__all__ = [
    "AgreementReport",
    "CalibrationFailed",
    "Estimate",
    "Guarantee",
    "Reliability",
    "Votes",
    "agreement_report",
    "alpha",
    "calibrate",
    "cohen_kappa",
    "dawid_skene",
    "dissent",
    "drift",
    "effective_votes",
    "fit_reliabilities",
    "fleiss_kappa",
    "gwet_ac",
    "label_shares",
    "leniency",
    "position_consistency",
    "prediction_powered_rate",
    "raw_agreement",
    "rogan_gladen",
    "self_preference",
    "suggest",
    "true_pass_rate",
    "verbosity",
]

DRAWS = 1000
"""Default number of draws of a bootstrap, so that all tools give the same interval for the same file."""

_HOMES = {
    "agreement": ("alpha", "cohen_kappa", "fleiss_kappa", "gwet_ac", "label_shares", "raw_agreement"),
    "bias": ("position_consistency", "verbosity"),
    "estimates": ("Estimate",),
    "failure": ("CalibrationFailed",),
    "guarantee": ("Guarantee",),
    "independence": ("effective_votes",),
    "juror_drift": ("drift",),
    "juror_stats": ("dissent", "leniency"),
    "latent": ("dawid_skene",),
    "cascade_calibration": ("calibrate",),
    "pass_rate": ("prediction_powered_rate", "rogan_gladen", "true_pass_rate"),
    "preferences": ("self_preference",),
    "reliabilities": ("Reliability", "fit_reliabilities"),
    "report": ("AgreementReport", "agreement_report"),
    "suggestions": ("suggest",),
    "votes": ("Votes",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = load(home, name, {"numpy": ("NumPy", "stats")})
    return value


def __dir__() -> list[str]:
    return list(__all__)
