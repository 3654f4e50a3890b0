"""Messages in the Gemini API's words, `{role, parts}`, as gemini-cli and qwen-code keep them."""

from collections import defaultdict, deque

from paste_proxy.events.values import Json
from paste_proxy.importers.said import words
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_CLIENTS_OWN_ARGUMENT = "wait_for_previous"
"""gemini-cli adds it to every tool's arguments; it says nothing of what is asked for."""
_BEFORE, _AFTER = "<untrusted_context>\n", "\n</untrusted_context>"


class Contents:
    """Tells a transcript what contents say. Calls without ids are answered in order, by name."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._unnamed: defaultdict[str, deque[str]] = defaultdict(deque)
        self._made = 0

    def user(self, parts: list[Json], ts: float | None) -> None:
        """What a person said in the parts; what clients put beside it is left out."""
        texts = [words(string(mapping(part).get("text"))) for part in parts]
        self._transcript.user("\n".join(filter(None, texts)), ts)

    def model(
        self, mark: str, parts: list[Json], ts: float | None, *, model: str = "", duration_s: float | None = None
    ) -> None:
        """What the LLM said and asked for; its thoughts are left out."""
        told = [part for part in map(mapping, parts) if part.get("thought") is not True]
        text = "\n".join(filter(None, (string(part.get("text")) for part in told)))
        self._transcript.turn(mark, ts, text=text, model=model, duration_s=duration_s)
        for part in told:
            if "functionCall" in part:
                self.call(mark, mapping(part["functionCall"]), ts)

    def call(self, mark: str, call: dict[str, Json], ts: float | None, *, name: str = "") -> None:
        """A function call; `name` stands for its own where the log says more of the tool."""
        own, arguments = string(call.get("name")), call.get("args")
        call_id = string(call.get("id"))
        if not call_id:
            self._made += 1
            call_id = f"{own}#{self._made}"
            self._unnamed[own].append(call_id)
        if isinstance(arguments, dict):
            arguments = {key: value for key, value in arguments.items() if key != _CLIENTS_OWN_ARGUMENT}
        self._transcript.call(mark, call_id, name or own, arguments, ts)

    def responses(
        self,
        parts: list[Json],
        ts: float | None,
        *,
        asked: str = "",
        failed: bool = False,
        duration_s: float | None = None,
        timed: bool = True,
    ) -> None:
        """The function responses in the parts; `asked` is the call's id where they do not name it."""
        for part in map(mapping, parts):
            answer = mapping(part.get("functionResponse"))
            if not answer:
                continue
            name, call_id = string(answer.get("name")), string(answer.get("id")) or asked
            waiting = self._unnamed[name]
            call_id = call_id or (waiting.popleft() if waiting else "")
            output, said_so = _given(answer.get("response"), from_server=name.startswith("mcp_"))
            self._transcript.output(call_id, output, ts, failed=failed or said_so, duration_s=duration_s, timed=timed)

    def all(self, contents: list[Json]) -> None:
        """A whole history, without times."""
        for number, content in enumerate(map(mapping, contents)):
            parts = listing(content.get("parts"))
            if content.get("role") == "model":
                self.model(str(number), parts, None)
            else:
                self.responses(parts, None)
                self.user(parts, None)


def _given(response: Json, *, from_server: bool) -> tuple[Json, bool]:
    """A tool's answer out of its function response, and whether it is an error.

    The answer of an MCP server is taken out of the mark that gemini-cli puts around it.
    """
    held = mapping(response)
    if "error" in held and "output" not in held:
        return held["error"], True
    output = held.get("output", response)
    if from_server and isinstance(output, str) and output.startswith(_BEFORE) and output.endswith(_AFTER):
        output = output[len(_BEFORE) : -len(_AFTER)]
    return output, False
