"""Merging of the parts of a run: its inputs, its outputs and the reference become the fields of one case."""

from __future__ import annotations

from collections.abc import Iterable

from jury_adapters.core.evidence import DEFAULT_EVIDENCE, Evidence
from jury_adapters.core.field_names import differ, ignored
from jury_adapters.core.input_output import CONFLICTS, GIVEN_STEPS, QUESTION_GUESS, SO_FAR, THREAD, WHOLE_PART, Found
from jury_adapters.core.threads import continued

REFERENCE_MESSAGES, RUN_MESSAGES = "reference_messages", "run_messages"
"""Metadata keys for all messages of a reference run, and of the run that is compared with it."""


def merged(
    took: Found, gave: Found, wanted: Found, contexts: Iterable[str] = (), evidence: Evidence = DEFAULT_EVIDENCE
) -> Found:
    """Merge the fields that were read from the parts of a run.

    The question is taken from the inputs, because outputs may repeat it shortened or rephrased. If none of the inputs
    is known as the question, or a text alone, that of the outputs is used, such as the user's message in the state of
    an agent. Outputs that go on with a turn in the inputs have the steps of that turn, too.

    Args:
        took: the fields of the inputs.
        gave: the fields of the outputs.
        wanted: the fields of the reference.
        contexts: passages from another source, used if the parts have none. Without them, the contexts are the outputs
            of the steps that are evidence.
        evidence: the rule that decides which steps are evidence.

    Raises:
        Exception: any exception of a predicate of the rule.
    """
    gave = continued(took, gave)
    fields: Found = {**took, **gave, **wanted}
    fields.pop(SO_FAR, None)
    conflicts = [said for part in (took, gave, wanted) for said in part.get(CONFLICTS, ())]
    conflicts += _between_parts(took, gave, wanted)
    fields.pop(CONFLICTS, None)
    fields.pop(WHOLE_PART, None)
    guess = fields.pop(QUESTION_GUESS, None)
    is_known = not guess and WHOLE_PART not in took
    if "question" in took and (is_known or "question" not in gave):
        fields["question"] = took["question"]
        conflicts += [guess] if guess else []
    if images := [image for part in (took, gave) for image in part.get("attachments", ())]:
        fields["attachments"] = tuple(dict.fromkeys(images))
    given_steps, thread = fields.pop(GIVEN_STEPS, False), fields.pop(THREAD, None)
    if not fields.get("contexts"):
        steps = () if given_steps else fields.get("trajectory", ())
        fields["contexts"] = took.get("contexts") or tuple(contexts) or evidence.contexts(steps)
        evidence.warn(steps)
    fields["metadata"] = {
        name: given for part in (gave, took, wanted) for name, given in part.get("metadata", {}).items()
    }
    if thread is not None and REFERENCE_MESSAGES in wanted.get("metadata", {}):
        fields["metadata"][RUN_MESSAGES] = thread.as_messages()
    if conflicts:
        fields["metadata"]["ambiguous"] = conflicts
    return fields


def _between_parts(took: Found, gave: Found, wanted: Found) -> list[str]:
    """Return a sentence for each field that has different values in the inputs and in another part."""
    pairs = (("contexts", gave, "outputs"), ("reference", wanted, "reference_outputs"))
    return [
        ignored(f"{field} in inputs", f"{field} in {part}")
        for field, other, part in pairs
        if took.get(field) and other.get(field) and differ(took[field], other[field])
    ]
