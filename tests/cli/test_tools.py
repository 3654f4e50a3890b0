"""`paste-proxy tools` as a program, asked by lines."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


def tools(cwd: Path, *options: str, **call: Any) -> "subprocess.CompletedProcess[str]":
    """What it says to a client that says hello, makes a call of `list`, and goes."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": call}}
    return subprocess.run(
        (sys.executable, "-m", "paste_proxy", "tools", *options),
        input=f"{json.dumps(HELLO)}\n{json.dumps(asked)}\n",
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
        check=False,
    )


def listed(done: "subprocess.CompletedProcess[str]") -> str:
    assert (done.returncode, done.stderr) == (0, "")
    hello, answer = map(json.loads, done.stdout.splitlines())
    assert hello["result"]["serverInfo"]["name"] == "paste-proxy-workbench"
    return str(answer["result"]["content"][0]["text"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").touch()
    return tmp_path


@pytest.mark.parametrize("mode", ["off", "observe", "speculate"])
def test_it_answers_the_same_in_every_mode(folder: Path, mode: str) -> None:
    assert listed(tools(folder, "--workspace", "work", "--mode", mode)) == "a.txt (0 bytes)"


def test_without_a_folder_it_works_in_this_one_or_in_the_config_s(folder: Path) -> None:
    assert listed(tools(folder)) == "work/"
    (folder / "paste.toml").write_text('[mcp.workbench]\nworkbench = "work"\nread_only = true\n')
    assert listed(tools(folder)) == "a.txt (0 bytes)"
    assert "paste.toml" in listed(tools(folder, "--workspace", "."))


def test_a_folder_that_is_none_is_one_sentence(folder: Path) -> None:
    done = tools(folder, "--workspace", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--workspace: {folder}/nowhere is no folder; expected the folder" in done.stderr
