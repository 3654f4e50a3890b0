"""What of a command line is told apart, and what is left together."""

import pytest

from paste_proxy.speculation.sameness.command_line import Cut, cut_of, folder_of, plain


def test_blanks_and_digits_are_those_of_a_shell() -> None:
    assert cut_of("ls 2>&1 \t| head -n 3 ") == ("ls", Cut("head", 3))
    assert folder_of(" cd\tx && ls", None) == ("ls", "x")


@pytest.mark.parametrize(
    "command", ["ls 2>&1 | head -n ٣", "ls 2>&1 | head\u00a0-3", "ls\u00a02>&1 | tail", "A=1\u00a0b=2 2>&1 | tail"]
)
def test_no_other_digit_or_blank_ends_a_command(command: str) -> None:
    assert cut_of(command) is None


@pytest.mark.parametrize("command", ["cd\u00a0x && ls", "\u3000cd x && ls", "cd x\u00a0&& ls", "cd x\r&& ls"])
def test_no_other_blank_parts_a_folder(command: str) -> None:
    assert folder_of(command, None) is None


def test_other_blanks_are_a_part_of_a_command() -> None:
    assert plain("ls a\u00a0 2>&1") == "ls a\u00a0"
    assert plain("\u00a0ls\u00a02>&1") == "\u00a0ls\u00a02>&1"


def test_few_changes_of_the_folder_are_taken_off() -> None:
    assert folder_of("cd a && " * 4 + "ls", None) == ("cd a && " * 3 + "ls", "a")
    assert folder_of("cd a && " * 5 + "ls", None) is None


def test_a_long_command_is_left_together() -> None:
    words = "ls " + "a" * 10_000
    assert plain(f"{words} 2>&1") == f"{words} 2>&1"
    assert (cut_of(f"{words} 2>&1 | tail"), folder_of(f"cd a && {words}", None)) == (None, None)
