"""Fields that every judge in a jury needs and no case has."""

import pytest

from jury_adapters import Critic, Ensemble, judge
from jury_adapters.checks import Equals, NamesAndNumbers, NotEmpty
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.testing import ScriptedModel


@judge
def any_case(case):
    return True


CORRECT = Critic(ScriptedModel("Answer: YES"), "correctness")


@pytest.mark.parametrize(
    ("jury", "absent", "field_map", "unmet"),
    [
        (any_case, {"answer", "reference"}, None, ()),
        (Equals(), {"reference"}, None, ("reference",)),
        (Equals("yes"), {"reference"}, None, ()),
        (NotEmpty(of="contexts"), {"contexts"}, None, ("contexts",)),
        (Ensemble([CORRECT, NamesAndNumbers()]), {"reference", "contexts"}, None, ("reference", "contexts")),
        (Ensemble([CORRECT, NamesAndNumbers()]), {"reference"}, None, ()),
        (Ensemble([Ensemble([CORRECT]), any_case]), {"reference"}, None, ()),
        (CORRECT & any_case, {"reference"}, None, ("reference",)),
        (any_case & CORRECT, {"reference"}, None, ()),
        (CORRECT | any_case, {"reference"}, None, ()),
        (CORRECT | CORRECT.named("again"), {"reference"}, None, ("reference",)),
        (CORRECT.with_fallbacks([any_case]), {"reference"}, None, ("reference",)),
        (any_case.with_fallbacks([CORRECT]), {"reference"}, None, ()),
        (CORRECT, {"reference"}, FieldMap({"reference": "expected"}), ()),
        (CORRECT, {"reference"}, FieldMap({"answer": "draft"}), ("reference",)),
        (CORRECT, {"reference"}, lambda row: row, ()),
    ],
)
def test_fields_that_all_judges_need_are_named(jury, absent, field_map, unmet):
    assert unmet_fields(jury, absent, field_map) == unmet
