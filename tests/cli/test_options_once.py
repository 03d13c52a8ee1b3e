"""An option with one value that is given twice: the first one is never dropped without a word."""

from importlib import import_module

import pytest

from jury_adapters.cli import app as commands

NAMES = [one.name for one in commands.app.registered_commands]


@pytest.mark.parametrize("name", NAMES)
def test_a_second_value_is_kept_or_refused(name):
    command = commands.load_command(name)
    for option in command.params:
        if option.param_type_name != "option" or option.is_flag or option.name == "help":
            continue
        flag = option.opts[-1]
        said = problem_with(command, [flag, "1", flag, "0.5"])
        assert ("more than once" in said) is not option.multiple, (flag, said)


def problem_with(command, args):
    """Parse the arguments without running the command, and return the error, empty where there is none."""
    try:
        command.make_context(command.name, args)
    except Exception as error:  # of the click that typer uses
        return str(error)
    return ""


def test_the_message_names_the_option(capsys, monkeypatch):
    main = import_module("jury_adapters.cli").main
    monkeypatch.setattr("sys.argv", ["jury", "compare", "a.jsonl", "b.jsonl", "--group", "x", "--group=y"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "--group is given more than once, and has one value" in capsys.readouterr().err
