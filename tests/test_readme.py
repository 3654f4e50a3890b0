"""What the README shows works as shown."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.config import Config, load_config
from paste_proxy.events.types import Outcome
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.templates import Repeat
from paste_proxy.proxy.hub.pattern_tally import PatternTally
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.named_files import read_policy
from paste_proxy.proxy.pattern_rows import pattern_row
from paste_proxy.proxy.stats import stats
from paste_proxy.share import find
from paste_proxy.speculation.types import Mode, Reason

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
REFERENCE = (ROOT / "deploy" / "README.md").read_text("utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


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
    text, more = blocks("toml")
    paced = Config.model_validate(tomllib.loads(more))
    assert {route.engine for route in paced.llm} == set(paced.engines) != set()
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


AROUND = """
import sys, types
class OpenAI:
    def __init__(self, *, base_url, default_headers):
        self.default_headers = default_headers
sys.modules["openai"] = types.SimpleNamespace(OpenAI=OpenAI)
sys.modules["react_agent"] = types.SimpleNamespace(TOOL_MAP={})
sys.modules["virtual_lab"] = types.ModuleType("virtual_lab")
sys.modules["virtual_lab.constants"] = types.SimpleNamespace(PUBMED_TOOL_NAME="pubmed_search")
sys.modules["virtual_lab.utils"] = types.SimpleNamespace(run_pubmed_search=lambda query, num_articles=3: "")
def run_agent(llm, tools):
    assert llm.default_headers == {"x-paste-session": "task-42"}
    assert tools[0](query="x") == ["x"]
"""


@pytest.mark.parametrize(
    ("code", "value"),
    [*((code, "[query]") for code in blocks("python")), *((code, "url") for code in blocks("python", REFERENCE))],
)
def test_the_python_shown_runs_as_it_stands(code: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AROUND + re.sub(r"(?<=: )\.\.\.$", f"return {value}", code, flags=re.MULTILINE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_figure_and_every_reason_is_explained() -> None:
    rows = "\n".join(re.findall(r"^\| (`[^|]+) \|", REFERENCE, re.MULTILINE))
    explained = set(re.findall(r"`(\w+)`", rows))
    figures = stats(Tally(), Mode.OBSERVE, sessions=0, exchanges=0)
    of_patterns = pattern_row(Pattern(Repeat("look"), ({},)), (0.0, 0.0), PatternTally())
    assert explained == figures.keys() | {reason.value for reason in Reason} | of_patterns.keys()
    counted = {name for name in Stats.__slots__ if not name.startswith("_")}
    assert {*counted, *(outcome.value for outcome in Outcome)} <= set(re.findall(r"`(\w+)`", REFERENCE))


@pytest.mark.parametrize("target", re.findall(r"^make ([a-z-]+)", README, re.MULTILINE))
def test_every_make_target_shown_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    "path", [*re.findall(r"`((?:patterns|policies|traces|deploy)/[\w./-]+)`", README + REFERENCE), "CONTRIBUTING.md"]
)
def test_every_file_named_exists(path: str) -> None:
    assert (ROOT / path).is_file()
