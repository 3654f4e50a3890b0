"""How long things take in a replay where the recording does not say.

Every report prints these values; a cut of time means nothing without them. They were first guessed (0.6 s and
50 tokens/s for the LLM, 3 s for a booking, no time for a person's reply) and, after a first replay had been
seen, set to published ones. PASTE (section 2.2) measured that tools take 45 to 57 % of an agent's time; a
report states the share it came to beside that.
"""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from paste_proxy.events.invocation import name_of

PAPER_TOOL_SHARE = (0.45, 0.57)
"""Tool share of end-to-end latency that PASTE measured, section 2.2."""

FIRST_TOKEN_S = 0.4
TOKENS_PER_S = 100.0
"""As published for gpt-4o, which wrote most of the recordings without a clock."""
CHARACTERS_PER_TOKEN = 4
DISPATCH_S = 0.1
"""From the end of an LLM answer to the tool's start; 0.05 to 0.2 s with real clients."""
REPLY_S = 5.0
"""A person reads an answer and writes the next message. It passes, and is not counted as the task's time."""
LONGEST_LLM_S = 60.0
"""A recorded gap before a turn is cut to this: beyond it nobody was waiting for an LLM."""
SPREAD = 0.5
"""A stated latency varies by up to this share either way, by a digest of the call."""


class Kind(StrEnum):
    """What a tool's time goes into."""

    NOTE = "note or sum"
    FILE = "local file"
    COMMAND = "command"
    LOOKUP = "API lookup"
    ACTION = "API search or booking"
    SEARCH = "web search"
    VISIT = "page visit"
    AGENT = "sub-agent"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Stated:
    """Latency of a kind of tool, in seconds."""

    typical_s: float
    """Where the recording has no duration."""
    longest_s: float
    """A recorded duration is cut to this: file edits wait for a permission, sub-agents are tasks of their own."""


STATED = {
    Kind.NOTE: Stated(0.02, 0.1),
    Kind.FILE: Stated(0.05, 0.5),
    Kind.COMMAND: Stated(2.5, 60.0),
    Kind.LOOKUP: Stated(2.0, 10.0),
    Kind.ACTION: Stated(4.0, 10.0),
    Kind.SEARCH: Stated(1.5, 10.0),
    Kind.VISIT: Stated(3.5, 30.0),
    Kind.AGENT: Stated(30.0, 30.0),
    Kind.PERSON: Stated(0.0, 0.0),
}

_BY_NAME = {
    Kind.NOTE: "think calculate transfer_to_human_agents todowrite taskcreate taskupdate tasklist taskget skill finish "
    "write_todos update_plan handoff_to_planner present_files enterplanmode",
    Kind.PERSON: "askuserquestion exitplanmode ask_question",
    Kind.AGENT: "task taskoutput agent",
    Kind.FILE: "read grep glob ls edit write multiedit notebookedit apply_patch read_file write_file str_replace open "
    "create find_file view view_image edit_file list_directory",
    Kind.COMMAND: "bash exec_command write_stdin read_bash stop_bash run_shell_command python_repl_tool bashoutput",
    Kind.SEARCH: "search web_search websearch google_web_search local_search_tool lookup",
    Kind.VISIT: "visit crawl_tool webfetch web_fetch fetch",
}
_KINDS = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}
_READING = ("get_", "list_", "read_", "find_", "lookup_", "show_", "view_")
_WRITES = frozenset(
    ["edit", "write", "multiedit", "notebookedit", "apply_patch", "write_file", "str_replace", "create", "edit_file"]
)
_CHANGING = ("book_", "update_", "cancel_", "send_", "create_", "delete_", "place_", "add_", "remove_", "set_")


def kind_of(tool: str) -> Kind:
    """The kind of a tool, by its name; a name that says nothing is an API."""
    name = name_of(tool).lower()
    if name in _KINDS:
        return _KINDS[name]
    return Kind.LOOKUP if name.startswith(_READING) else Kind.ACTION


def writes(tool: str) -> bool:
    """Whether a call of the tool changes what later reads of its kind answer."""
    name = name_of(tool).lower()
    return name in _WRITES or name.startswith(_CHANGING)


def tool_latency(key: str, tool: str, recorded_s: float | None) -> float:
    """Seconds one call takes: the recorded ones, cut, or the stated ones spread by the call's key."""
    stated = STATED[kind_of(tool)]
    if recorded_s is not None:
        return min(max(recorded_s, 0.0), stated.longest_s)
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    unit = int.from_bytes(digest, "big") / 2**64
    return stated.typical_s * (1 - SPREAD + 2 * SPREAD * unit)


def tokens(text: str) -> int:
    """Tokens a text is counted as."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
