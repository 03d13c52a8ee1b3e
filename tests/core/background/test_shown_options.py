"""The options that a class passes on are in its signature and its docstring."""

import inspect
from typing import Any

from jury_adapters.core.background.shown_options import shows_options_of


class Pump:
    """Moves water.

    Args:
        place: where it is.
        speed: how fast it turns,
            in turns per second.
        dry: whether it may run dry.

    Raises:
        ValueError: no.
    """

    def __init__(self, place: str, *, speed: float = 2.0, dry: bool = False) -> None:
        self.speed = speed


@shows_options_of(Pump)
class Well:
    """Gives water.

    Args:
        depth: how deep it is.
        dry: whether it is dry.
        **options: as for the pump,
            whatever that takes.

    Raises:
        ValueError: never.
    """

    def __init__(self, depth: int, *, dry: bool = True, **options: Any) -> None:
        self.pump = Pump("below", **options)


def test_the_signature_has_them_with_their_defaults():
    assert str(inspect.signature(Well)) == "(depth: int, *, dry: bool = True, speed: float = 2.0) -> None"
    assert list(inspect.signature(Well.__init__).parameters) == ["self", "depth", "dry", "speed"]


def test_the_docstring_has_their_entries_once():
    arguments = inspect.getdoc(Well).partition("Args:\n")[2].partition("\n\n")[0]
    assert arguments.splitlines() == [
        "    depth: how deep it is.",
        "    dry: whether it is dry.",
        "    speed: how fast it turns,",
        "        in turns per second.",
    ]
    assert inspect.getdoc(Well).endswith("ValueError: never.")


def test_a_subclass_with_a_constructor_of_its_own_shows_that():
    class Spring(Well):
        def __init__(self, height):
            super().__init__(0, speed=height)

    assert str(inspect.signature(Spring)) == "(height)"
    assert Spring(3).pump.speed == 3
