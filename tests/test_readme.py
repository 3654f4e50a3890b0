"""What the README shows works as shown."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from paste_proxy.config import Config, load_config
from paste_proxy.proxy.named_files import read_policy
from paste_proxy.share import find

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    shown = re.findall(r"paste-proxy ([a-z]+(?: (?:overhead|replay))?)", README)
    table = re.findall(r"^\| `([^|]+)` \|", README, re.MULTILINE)
    named = [name for cell in table for name in re.findall(r"(?:^|`)([a-z]+)(?: (overhead|replay))?", cell)]
    return sorted({*shown, *(" ".join(part for part in name if part) for name in named)} - {""})


@pytest.mark.parametrize("command", commands())
def test_every_command_named_exists(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paste_proxy", *command.split(), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_commands_are_found_in_the_text() -> None:
    assert {"demo", "serve", "mcp", "mine", "evaluate", "import", "doctor", "bench overhead"} <= set(commands())


def test_the_config_shown_is_a_config_and_its_policies_exist() -> None:
    (text,) = blocks("toml")
    config = Config.model_validate(tomllib.loads(text))
    assert [find("policies", name).is_file() for name in config.policies] == [True]
    assert config.llm
    assert config.mcp
    assert ruled(config)


def ruled(config: Config) -> bool:
    """Whether the policies named speak of every MCP server."""
    rules = [rule for name in config.policies for rule in read_policy(name).rules]
    return all(any(rule.of_server(server) for rule in rules) for server in config.mcp)


def test_the_example_config_is_a_config() -> None:
    config = load_config(ROOT / "deploy" / "paste.example.toml")
    assert config.llm
    assert ruled(config)
    assert [find("policies", name).is_file() for name in config.policies] == [True]


def test_the_python_shown_runs_as_it_stands() -> None:
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code.replace("...", "return [query]") + "\nassert search(query='x') == ['x']\n"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", re.findall(r"^make ([a-z-]+)", README, re.MULTILINE))
def test_every_make_target_shown_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    "path", [*re.findall(r"`((?:patterns|policies|traces|deploy)/[\w./-]+)`", README), "CONTRIBUTING.md"]
)
def test_every_file_named_exists(path: str) -> None:
    assert (ROOT / path).is_file()
