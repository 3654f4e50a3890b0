"""What `--help` says of each command."""

import re

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.main import app

COMMANDS = ["", "demo", "serve", "mcp", "tools", "mine", "evaluate", "doctor", "import", "bench", "bench replay"]


def shown(command: str) -> str:
    return CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=80).output


@pytest.mark.parametrize("command", [*COMMANDS, "bench overhead"])
def test_a_flag_takes_no_value_and_a_name_no_dots_twice(command: str) -> None:
    assert not re.search(r"bool|\.\.\.\}|\{--|╭", shown(command))


@pytest.mark.parametrize("command", ["serve", "mcp --", "wrap --"])
def test_a_mode_that_is_none_is_told_in_plain_words(command: str) -> None:
    name, *rest = command.split()
    result = CliRunner().invoke(app, [name, "--mode", "spec", *rest, "x"])
    assert result.exit_code == 2
    assert "'--mode': 'spec'; expected off, observe or speculate" in result.output
    assert "Value error" not in result.output


@pytest.mark.parametrize("command", ["", "bench"])
def test_a_list_of_commands_says_each_in_one_whole_sentence(command: str) -> None:
    lines = shown(command).partition("Commands:\n")[2].splitlines()
    assert lines
    assert [line for line in lines if not re.fullmatch(r"  [a-z-]+ +[A-Z][^.]+\.", line)] == []
