"""An option with one value that is given twice: the first one is never dropped without a word."""

from importlib import import_module

import pytest
from typer.testing import CliRunner

from jury_adapters.cli import app as commands

NAMES = [one.name for one in commands.app.registered_commands]


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_a_second_value_is_kept_or_refused(name):
    for option in commands.load_command(name).params:
        if option.param_type_name != "option" or option.is_flag or option.name == "help":
            continue
        flag = option.opts[-1]
        done = CliRunner().invoke(commands.app, [name, flag, "1", flag, "0.5"], standalone_mode=False)
        assert ("more than once" in str(done.exception)) is not option.multiple, (flag, done.exception)


def test_the_message_names_the_option(capsys, monkeypatch):
    main = import_module("jury_adapters.cli").main
    monkeypatch.setattr("sys.argv", ["jury", "compare", "a.jsonl", "b.jsonl", "--group", "x", "--group=y"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "--group is given more than once, and has one value" in capsys.readouterr().err
