"""Options of checks: fields of a class, which pydantic validates and describes."""

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeVar, cast, dataclass_transform

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    StrictBool,
    ValidationError,
    WithJsonSchema,
)
from pydantic.dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Returned
from jury_adapters.core.judgment import abstain
from jury_adapters.core.values import ConfigurationError, problems_of

Flag = StrictBool
"""True or False, and nothing that means them."""
Whole = Annotated[int, Field(strict=True, ge=0)]
"""A whole number from 0."""
_Texts = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Texts = Annotated[str | Sequence[str], GetPydanticSchema(lambda _, handler: handler.generate_schema(_Texts))]
"""One text or several, none of them empty; a tuple in the check."""
NO_ANSWER = abstain("there is no answer to check")

C = TypeVar("C", bound=type)


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field, Field))
def declared(cls: C) -> C:
    """Make the annotated attributes of a check its options: arguments of its constructor and keys in a jury file.

    Every check has the option ``name=`` beside its own. ``pydantic.TypeAdapter(cls)`` validates a mapping of options
    and gives their JSON schema. The constructor raises ConfigurationError where an option is wrong; what concerns
    several options is checked in ``__post_init__``, which calls that of the base first and raises ValueError.

    >>> @declared
    ... class Short(DeclaredCheck):
    ...     maximum: Whole = 80
    ...
    ...     def check(self, case):
    ...         return len(case.answer or "") <= self.maximum
    >>> Short(maximum=3).judge(answer="Yes").status.value
    'PASS'
    """
    made: Any = dataclass(config=ConfigDict(extra="forbid", hide_input_in_errors=True), eq=False, repr=False)(cls)
    init = made.__init__

    def construct(*args: Any, **options: Any) -> None:
        try:
            init(*args, **options)
        except ValidationError as error:
            raise ConfigurationError(f"{made.__name__}: {problems_of(error)}") from None

    made.__init__ = construct
    return cast(C, made)


@declared
class DeclaredCheck(Check):
    """Base of checks with declared options.

    Attributes:
        name: the name in verdicts; by default that of the class.
        pass_mark: the option ``threshold``, if the check has it.
        runs_commands: whether the check runs programs, which a jury file may do only with permission.
    """

    runs_commands: ClassVar[bool] = False
    name: str = dataclasses.field(default="", kw_only=True)

    def __post_init__(self) -> None:
        self.name = self.name or type(self).__name__
        if (threshold := vars(self).get("threshold")) is not None:
            self.pass_mark = threshold


class OfAnswer(DeclaredCheck):
    """Base of checks that read the answer alone."""

    def check(self, case: Case) -> Returned:
        return NO_ANSWER if case.answer is None else self.read(case.answer)

    @abstractmethod
    def read(self, answer: str) -> Returned:
        """Judge an answer."""
