"""Which word of a command line is the client."""

import pytest

from paste_proxy.agents.wrap.program import program_at


def at(command: str) -> int | None:
    return program_at(command.split(), names=("gemini",), packages=("@google/gemini-cli",))


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("gemini -p hi", 0),
        ("/usr/local/bin/gemini", 0),
        ("gemini.cmd", 0),
        ("node /x/node_modules/@google/gemini-cli/bundle/gemini.js -p hi", 1),
        ("node --import ./a.js --no-warnings /x/@google/gemini-cli/bundle/gemini.js", 4),
        ("/opt/node22/bin/node -r a /x/@google/gemini-cli/index.js", 3),
        ("npx @google/gemini-cli -p hi", 1),
        ("npx -y @google/gemini-cli@0.61.0", 2),
        ("npm exec @google/gemini-cli", 2),
        ("pnpm dlx @google/gemini-cli@latest", 2),
        ("env A=b C=d gemini", 3),
        ("env -u A npx gemini", 4),
    ],
)
def test_the_client_is_found(command: str, where: int) -> None:
    assert at(command) == where


@pytest.mark.parametrize(
    "command", ["", "node", "npx", "geminix", "echo gemini", "npx -y", "node gemini-thing.js", "env A=b"]
)
def test_other_programs_are_not_it(command: str) -> None:
    assert at(command) is None
