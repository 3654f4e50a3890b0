"""The example config: every key there is, at its default unless it says otherwise."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from paste_proxy.config import (
    Budget,
    Capacity,
    Config,
    DispatchTool,
    Engine,
    Limits,
    LlmRoute,
    McpServer,
    ModelSpeculator,
    Recording,
    Speculating,
    Staging,
    load_config,
)

EXAMPLE = Path(__file__).parent.parent / "deploy" / "paste.example.toml"
EXAMPLES = {"llm", "engines", "mcp", "tools", "capacity", "policies", "patterns", "speculator"}


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(EXAMPLE)


def test_every_key_that_is_no_example_has_its_default(config: Config) -> None:
    assert config.model_dump(exclude=EXAMPLES) == Config().model_dump(exclude=EXAMPLES)


def defaults(table: BaseModel, *, but: set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    fields = {key: field.default for key, field in type(table).model_fields.items() if key not in but}
    return {key: getattr(table, key) for key in fields}, fields


def test_in_the_example_tables_every_key_but_the_address_has_its_default(config: Config) -> None:
    for table, but in [
        (config.llm[0], {"path", "upstream"}),
        (config.engines["local"], {"kind"}),
        (config.mcp["filesystem"], {"command"}),
        (config.tools["lookup"], {"url"}),
        (config.capacity["filesystem"], set[str]()),
        (config.speculator or Config(), {"base_url", "model"}),
    ]:
        shown, default = defaults(table, but=but)
        assert shown == default


@pytest.mark.parametrize(
    "model",
    [
        Config,
        Speculating,
        Budget,
        Recording,
        Limits,
        LlmRoute,
        Engine,
        McpServer,
        DispatchTool,
        Capacity,
        ModelSpeculator,
        Staging,
    ],
)
def test_every_key_is_shown(model: type[BaseModel]) -> None:
    text = EXAMPLE.read_text("utf-8")
    shown = {*re.findall(r"^(?:# )?(\w+) = ", text, re.MULTILINE), *re.findall(r"^\[+(\w+)", text, re.MULTILINE)}
    assert set(model.model_fields) <= shown


@pytest.mark.parametrize("key", re.findall(r"^# (\w+) = ", EXAMPLE.read_text("utf-8"), re.MULTILINE))
def test_what_is_commented_out_can_be_put_in(key: str, tmp_path: Path) -> None:
    lines = EXAMPLE.read_text("utf-8").splitlines()
    other = {"url": "command = [", "workbench": "command = [", "command": "url = "}.get(key, "\0")
    at = lines.index(next(line for line in lines if line.startswith(f"# {key} = ")))
    for near in range(at - 2, min(at + 3, len(lines))):
        if lines[near].startswith(other):
            lines[near] = ""
    lines[at] = lines[at].removeprefix("# ")
    path = tmp_path / "paste.toml"
    path.write_text("\n".join(lines))
    assert load_config(path)
