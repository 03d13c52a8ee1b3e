"""Replay: recorded votes as judges, which vote again at no cost.

>>> from jury_adapters import Ensemble
>>> from jury_adapters.replay import RecordedCritic
>>> labels = {"valid": "pass", "invalid": "fail"}
>>> jury = Ensemble([RecordedCritic(name, labels=labels) for name in ("gpt", "claude")], voting="unanimous")
>>> jury.judge(metadata={"votes": {"gpt": "valid", "claude": "invalid"}}).status.value
'FAIL'
"""

from jury_adapters.critic.recorded import RecordedCritic, recorded_jury

__all__ = ["RecordedCritic", "recorded_jury"]
