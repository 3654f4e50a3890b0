"""One task twice, without and behind a sidecar, and what must be the same of the two."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paste_proxy.agents.wrap.client import SESSION_HEADER
from tests.clients.script import Format, Turn
from tests.clients.world import Meanwhile, Run, World, world

_STAND_IN = re.compile(r"/tmp/paste-wrap-\w+/home(?=/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The same task in two worlds."""

    plain: Run
    behind: Run
    places: tuple[World, World]

    def same_to_the_user(self) -> None:
        """Exit code, output, and what is left on the disk: the user's own files to the byte."""
        assert self.plain.code == self.behind.code
        assert self._transcript(0, self.plain.stdout) == self._transcript(1, self.behind.stdout)
        assert {self._scrubbed(0, name) for name in self.plain.left} == {
            self._scrubbed(1, name) for name in self.behind.left
        }
        for place, run in zip(self.places, (self.plain, self.behind), strict=True):
            assert place.furnished.items() <= run.left.items()
        assert not list((self.places[1].root / "tmp").glob("paste-wrap-*"))

    def same_to_the_model(self) -> None:
        """Every request for a turn, but for ids and times."""
        asked = [self._scrubbed(0, json.dumps(request.body)) for request in self.plain.asked]
        assert asked == [self._scrubbed(1, json.dumps(request.body)) for request in self.behind.asked]
        assert [request.path for request in self.plain.asked] == [request.path for request in self.behind.asked]

    def same_to_the_tools(self) -> None:
        """Each tool ran as often, with the same arguments."""
        assert self.plain.tool_runs == self.behind.tool_runs

    def tagged(self) -> None:
        """One name on every request of the run, to the LLM and to the MCP server over HTTP; none without wrap."""
        tags = {request.headers.get(SESSION_HEADER) for request in self.behind.asked}
        own = [headers for headers in self.places[1].http.headers if SESSION_HEADER in headers]
        assert len(tags) == 1
        assert tags == {headers[SESSION_HEADER] for headers in own} != {None}
        assert not any(SESSION_HEADER in request.headers for request in self.plain.asked)

    def _transcript(self, place: int, stdout: str) -> list[Any]:
        """The events that the client prints; in which order its servers answer first is a race without us too."""
        events = [json.loads(self._scrubbed(place, line)) for line in stdout.splitlines()]
        for event in events:
            if isinstance(event.get("tools"), list):
                event["tools"].sort()
        return events

    def _scrubbed(self, place: int, text: str) -> str:
        return _STAND_IN.sub("/home", self.places[place].scrub(text))


async def pair(
    root: Path,
    form: type[Format],
    turns: Sequence[Turn],
    furnish: Callable[[World], None],
    command: Sequence[str],
    wrap: Callable[[World], Sequence[str]],
    meanwhile: Meanwhile | None = None,
) -> Pair:
    """Run `command` in a world furnished so, and in another one behind a sidecar with the options that `wrap` gives."""
    async with AsyncExitStack() as stack:
        places = [await stack.enter_async_context(world(root / name, form(), turns)) for name in ("plain", "behind")]
        for place in places:
            furnish(place)
            place.remember()
        plain = await places[0].run(command, meanwhile=meanwhile)
        behind = await places[1].run(command, wrap=wrap(places[1]), meanwhile=meanwhile)
        return Pair(plain=plain, behind=behind, places=(places[0], places[1]))


def speculating(place: World) -> Sequence[str]:
    """Options under which both servers' tools, and built-in reads, may be run ahead."""
    return ("--mode", "speculate", "--policy", str(place.policy()), "--policy", "builtin:coding")


def outcomes(run: Run) -> dict[str, int]:
    """What became of what was run ahead."""
    found: dict[str, int] = run.account["stats"]["outcomes"]
    return found
