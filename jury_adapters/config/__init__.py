"""Juries as YAML files.

A file is a judge. One key says which kind: ``check``, ``rubric``, ``criterion``, ``recorded``, ``jurors``,
``scorecard`` or ``tiers``. The other keys are its options::

    name: support answers
    tiers:
      - name: checks
        policy: reject_on_any_fail
        judge:
          jurors:
            text: {check: not_empty}
            brief: {check: length_between, maximum: 2000}
      - name: grounding
        policy: reject_on_any_fail
        judge: {check: grounding_screen}
      - name: panel
        judge:
          schedule: early_stop
          jurors:
            gpt: {recorded: gpt-4o, votes: votes.jsonl, labels: {valid: pass, invalid: fail}}
            claude: {recorded: claude-3.5-haiku, votes: votes.jsonl, labels: {valid: pass, invalid: fail}}
            gemini: {recorded: gemini-1.5-flash, votes: votes.jsonl, labels: {valid: pass, invalid: fail}}

A judge is allowed wherever another judge is: as a juror, as a criterion, as the ``judge:`` of a tier, as a fallback,
and as the whole file. Every judge takes ``name`` and ``timeout`` (seconds for one case), and every judge except a jury
that is the whole file takes ``fallbacks``.

``jurors`` is a mapping of names to judges, or a list. ``weight`` and ``required`` are beside the juror they are for.
The voting strategy and its options are keys next to ``jurors``; with weights, the default is ``weighted``, and other
strategies may ignore them.

``scorecard`` is a mapping of criteria to judges, next to ``pass_when``, or to a ``threshold`` where criteria have a
``weight``; those without one are then only reported::

    scorecard:
      answered: {check: not_empty}
      brief: {check: length_between, maximum: 2000}
    pass_when: [answered]

A critic is a ``rubric`` and a ``model``, or one sentence and a model, as in
``{criterion: "The answer is polite.", model: "openai:gpt-4o-mini"}``.
``rubric:`` or ``criterion:`` next to ``jurors`` or ``tiers`` is for all critics inside that have none of their own::

    rubric: faithfulness
    jurors:
      gpt: {model: "openai:gpt-4o-mini", weight: 2, required: true}
      claude: {model: "anthropic:claude-haiku-4-5", fallbacks: [{model: "openai:gpt-4.1-mini"}]}

At the top level, a file may have ``gates:``, the conditions for its verdicts, as in ``verdict.require(...)``::

    gates: {min_agreement: 0.6, bias_warning: false, max_cost_usd: 0.02}

``jury judge`` and the pytest plugin check them; in Python they are ``jury.gates``.

At the top level, a file may also have a ``guarantee:``, which ``jury calibrate`` writes. Its thresholds then replace
the tiers' policies, and a case of which no tier is certain enough is ABSTAIN. It is valid only for the jury that was
calibrated: with other tiers, jurors, models, rubrics or voting rules, the file is refused.

A file holds only plain values. It cannot import Python objects or run code, so an untrusted jury file can do no more
than the judges listed here; it can name files of votes and reference folders to read. The checks that run
programs (``command``, ``tests_pass``, ``build_passes``) are refused without ``allow_commands=True``. A ``base_url``
for a model whose key comes from the environment is refused without ``allow_base_url=True``. Keys are checked, values
are never silently converted, and errors are reported with line and path.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from jury_adapters.config.grammar import JURY_FILE
from jury_adapters.config.permissions import Permissions
from jury_adapters.config.problems import configuration_error
from jury_adapters.config.schema import jury_schema
from jury_adapters.config.spec_judge import Place
from jury_adapters.core.jury import Jury
from jury_adapters.yaml_files import read_source

__all__ = ["jury_schema", "load_jury"]

_FORM = "a jury file is one mapping, such as {jurors: {text: {check: not_empty}}}"


def load_jury(
    path_or_text: str | Path,
    *,
    allow_commands: bool = False,
    allow_base_url: bool = False,
    calibrated: bool = True,
    replay: bool = False,
) -> Jury:
    """Build the jury that a YAML file describes.

    Args:
        path_or_text: the path of a file, or YAML text. A str with a line break or a ``: `` in it is text, any other
            str is a path. Paths in the file are relative to it.
        allow_commands: whether the file may have checks that run programs. Allow it for files that you would run as a
            script.
        allow_base_url: whether the file may send a key from the environment to an address of its own (``base_url:``).
            A model that uses no key from the environment, such as a local one, needs no permission.
        calibrated: whether a ``guarantee:`` of the file is applied. Without it, the jury is as it was before
            calibration, so that it can be calibrated again.
        replay: whether its critics serve recorded votes, from ``case.metadata["votes"]`` and by juror name, instead of
            asking a model. Such a jury needs no keys.

    Returns:
        The jury, with the file's ``gates:`` as its :attr:`Jury.gates`. A file that describes a single judge makes an
        :class:`Ensemble` of one juror.

    Raises:
        InputError: a file cannot be read, or is not YAML of plain values.
        ConfigurationError: the file does not describe a jury; the message names each problem by line and path.

    >>> jury = load_jury("jurors: {text: {check: not_empty}, brief: {check: length_between, maximum: 80}}")
    >>> jury.judge(answer="Yes.").passed
    True
    """
    source = read_source(path_or_text, _FORM)
    try:
        spec = JURY_FILE.validate_python(source.content)
    except ValidationError as error:
        raise configuration_error(error, source) from None
    place = Place(source, Permissions(allow_commands, allow_base_url), replay=replay)
    jury = spec.build(place, calibrated=calibrated)
    if replay:
        from jury_adapters.critic.replayed import place_critics

        place_critics(jury)
    return jury
