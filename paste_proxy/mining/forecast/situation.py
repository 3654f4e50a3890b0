"""What is known of a moment when the next tool is to be guessed: cues, one word each.

c:CONTEXT   a context that the signature stream ends in, see `contexts`
u:STEM      a word of the user's last message
t:STEM      a word of what the model said last
s:TOOL      a tool called since the user spoke; l:TOOL the last, l2:TOOL TOOL the last two
n:NUMBER    how many calls since the user spoke, 5 for more
v:TOOL VERB the first words of the last call's texts, w:TOOL WORD one that is a word, x:TOOL .EXT its paths' endings
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.window import CALL, TURN, USER, Observation, Window

_WORD = re.compile(r"[a-z][a-z']{2,}")
_ENDING = re.compile(r"(?:ing|ed|es|s|ly|ment|ation)$")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "the and for that with this from you your are was has have not but can will would could should "
        "please all any its into our out just also been then than them they there here what which when "
        "who how why let now need want like get about over some more only ",
    )
)
_USER_CHARACTERS = 1_500
_USER_WORDS = 120
_TURN_CHARACTERS = 300
_TURN_WORDS = 25
_VERB_CHARACTERS = 40
_LABEL_CHARACTERS = 24
_EXTENSION = re.compile(r"\.\w{1,5}$")


def cues(window: Window) -> list[str]:
    """The cues of the moment, distinct; the contexts first."""
    found = dict.fromkeys("c:" + context for context in suffixes(window.context()))
    since: list[Observation] = []
    user = turn = None
    for seen in reversed(window.observations):
        if seen.kind == USER:
            user = seen
            break
        if seen.kind == CALL:
            since.append(seen)
        elif turn is None:
            turn = seen
    found[f"n:{min(len(since), 5)}"] = None
    found.update(dict.fromkeys("s:" + call.tool for call in since))
    if since:
        found["l:" + since[0].tool] = None
        found.update(dict.fromkeys(_manner(since[0])))
    if len(since) > 1:
        found[f"l2:{since[1].tool} {since[0].tool}"] = None
    if user is not None and user.said is not None:
        found.update(dict.fromkeys("u:" + word for word in stems(user.said.text()[:_USER_CHARACTERS], _USER_WORDS)))
    if turn is None:
        turn = next((seen for seen in reversed(window.observations) if seen.kind == TURN), None)
    if turn is not None and turn.said is not None:
        found.update(dict.fromkeys("t:" + word for word in stems(turn.said.text()[-_TURN_CHARACTERS:], _TURN_WORDS)))
    return list(found)


def _manner(call: Observation) -> Iterator[str]:
    if call.invocation is None:
        return
    for value in islice(call.invocation.arguments.values(), 4):
        if isinstance(value, str) and value:
            if (ending := _EXTENSION.search(value)) is not None:
                yield f"x:{call.tool} {ending[0]}"
            first = value[:_VERB_CHARACTERS].split()
            if len(first) == 1 and len(value) < _LABEL_CHARACTERS:
                yield f"w:{call.tool} {value}"
            if len(first) > 1:
                yield f"v:{call.tool} {first[0]}"
                yield f"v:{call.tool} {first[0]} {first[1]}"


@lru_cache(maxsize=512)
def stems(text: str, most: int) -> tuple[str, ...]:
    """The telling words of a text, without their endings, distinct, in order."""
    words = islice((word for word in _WORD.findall(text.lower()) if word not in _STOP), most)
    return tuple(dict.fromkeys(_ENDING.sub("", word) for word in words))
