# mypy: disable-error-code="import-not-found"
"""A meeting of Virtual-Lab, with a PubMed of its own; the folder for its minutes is the one argument."""

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from paste_proxy import Sidecar
from paste_proxy.agents.virtual_lab import through

FETCH_S = 0.2
searched: list[str] = []

os.environ["OPENAI_BASE_URL"] = f"{os.environ['LLM_URL']}/v1"
utils: Any = import_module("virtual_lab.utils")
agents = import_module("virtual_lab.agent")
meeting = import_module("virtual_lab.run_meeting")


def get(url: str) -> Any:
    """PubMed: one article to every search."""
    time.sleep(FETCH_S)
    if term := parse_qs(urlsplit(url).query).get("term"):
        searched.extend(term)
        found: Any = {"esearchresult": {"idlist": [str(len(term[0]))]}}
    else:
        infons = {"section_type": "TITLE", "type": "front"}, {"section_type": "ABSTRACT", "type": "abstract"}
        found = [{"documents": [{"passages": [{"text": url.partition("PMC")[2], "infons": kind} for kind in infons]}]}]
    return SimpleNamespace(raise_for_status=lambda: None, json=lambda: found)


utils.requests = SimpleNamespace(get=get)
utils.tiktoken = SimpleNamespace(get_encoding=lambda name: SimpleNamespace(encode=str.split))


def meet() -> None:
    """Two rounds between a scientist and the critic."""
    scientist = agents.Agent(
        title="Immunologist", expertise="antibodies", goal="find some", role="look into the papers", model="gpt-4o"
    )
    meeting.run_meeting(
        meeting_type="individual",
        agenda="Find papers.",
        save_dir=Path(sys.argv[1]),
        team_member=scientist,
        num_rounds=1,
        pubmed_search=True,
    )


account: dict[str, Any] = {}
if url := os.environ.get("PASTE_URL"):
    with Sidecar(url, patience_s=10) as paste:
        through(paste)
        meet()
        names = ("calls", "run", "reused", "promoted", "unreadable", "slow", "missing", "broken")
        account = {name: getattr(paste.stats, name) for name in names}
else:
    meet()
print(json.dumps({"searched": sorted(searched), **account}))
