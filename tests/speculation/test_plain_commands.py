"""Which command lines need no shell to be understood, and the words of their programs."""

import pytest

from paste_proxy.speculation.plain_commands import pipeline


def test_a_pipeline_is_the_words_of_its_programs() -> None:
    assert pipeline("grep -n 'a b' x=y | head -3") == (("grep", "-n", "a b", "x=y"), ("head", "-3"))


@pytest.mark.parametrize(
    "command",
    ["X=./pytest rm -rf build", "X+=./pytest rm a", "X='./a b' rm a", "_X1= rm a", "ls | LD_PRELOAD=./x.so wc", "A=1"],
)
def test_a_word_that_assigns_is_no_program(command: str) -> None:
    assert pipeline(command) is None
