"""What the messages of logs say, and what of it nobody said.

Clients put texts of their own among a person's words: reminders, context, what a command printed. They
stand in tags of names that differ by client.
"""

import re

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import listing, mapping

_CLIENTS_OWN = re.compile(
    r"\s*(?:<(?:system-reminder|command-(?:name|message|args|contents)|local-command-\w+|bash-(?:input|stdout|stderr)"
    r"|task-notification|environment_context|user_instructions|permissions instructions|skills_instructions"
    r"|turn_aborted|session_context|hook_context|state_snapshot|user-prompt-submit-hook)\b"
    r"|\[Request interrupted by user|# AGENTS\.md instructions for |Caveat: The messages below were generated)"
)


def words(text: str) -> str:
    """The text if a person may have said it, blank if it is a client's own."""
    return "" if _CLIENTS_OWN.match(text) else text


def text_of(content: Json) -> str:
    """The text of a message's content: itself, or its blocks of text, a line break between."""
    if isinstance(content, str):
        return content
    return "\n".join(texts_of(content))


def texts_of(content: Json) -> list[str]:
    """The texts of a list of blocks or parts, whatever the wire calls their kind."""
    if isinstance(content, str):
        return [content]
    found = (mapping(block).get("text") if isinstance(block, dict) else block for block in listing(content))
    return [text for text in found if isinstance(text, str)]


def result_of(content: Json) -> Json:
    """A tool's answer: its text where it is text all through, else as it stands."""
    blocks = listing(content)
    if blocks and all(isinstance(mapping(block).get("text"), str) for block in blocks):
        return text_of(content)
    return content
