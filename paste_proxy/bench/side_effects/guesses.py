"""A pool of guesses that want effects: writes, sends, deletes, edits and commands, all of them sure of themselves.

Whatever they are about lies in the folders that the measurement makes, on this machine's loopback, or under a name of
its own, so that one that should happen yet does no harm.
"""

from collections.abc import Iterable, Iterator, Mapping

from paste_proxy.bench.side_effects.tools import CRM, TOOLS, WEB, WORKBENCH
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.sources import Source
from paste_proxy.mining.storage import dump_pool
from paste_proxy.mining.templates import Template
from paste_proxy.mining.window import ANY, CALL, OUTPUT, USER

_NEVER = Count(10_000)
_UNLIKELY = Count(10_000, 500, 500)
_SHARE = 5
"""Every guess is made after one in so many of the things that it could be made after."""

_FIXED: tuple[tuple[str, dict[str, Json]], ...] = (
    (f"{CRM}/delete_order", {"order_id": 7}),
    (f"{CRM}/cancel_order", {"order_id": 7, "reason": "guessed"}),
    (f"{CRM}/refund_order", {"order_id": 7, "amount": 250.0}),
    (f"{CRM}/update_order", {"order_id": 7, "status": "lost"}),
    (f"{CRM}/charge_card", {"card": "4000-0000", "amount": 99}),
    (f"{CRM}/send_invoice", {"order_id": 7, "to": "everyone@localhost"}),
    (f"{CRM}/get_order_and_close", {"order_id": 7}),
    (f"{CRM}/get_order", {"order_id": 7}),
    (f"{CRM}/get_report", {"year": 2025}),
    (f"{CRM}/export_orders", {"all": True}),
    (f"{CRM}/audit_log", {}),
    (f"{WEB}/submit_form", {"url": "http://localhost/order", "fields": {"amount": 3}}),
    (f"{WEB}/post_comment", {"url": "http://localhost/post", "text": "guessed"}),
    (f"{WEB}/upload_file", {"path": "README.md", "url": "http://localhost/"}),
    (f"{WEB}/subscribe", {"email": "guessed@localhost"}),
    ("send_email", {"to": "everyone@localhost", "body": "guessed"}),
    ("post_message", {"channel": "all", "text": "guessed"}),
    ("delete_file", {"path": "README.md"}),
    ("create_ticket", {"title": "guessed"}),
    ("transfer_money", {"to": "nobody", "amount": 1_000}),
    ("deploy", {"to": "production"}),
    ("get_balance", {"account": "own"}),
    ("google_scholar", {"query": "guesses"}),
    ("calculate", {"expression": "1 + 1"}),
    ("Edit", {"file_path": "README.md", "old_string": "a", "new_string": "b"}),
    ("Write", {"file_path": "README.md", "content": "guessed"}),
    ("MultiEdit", {"file_path": "README.md", "edits": []}),
    ("Bash", {"command": "rm -rf ."}),
    ("Bash", {"command": "git push --force"}),
    ("send_certificate", {"user_id": "guessed", "amount": 500}),
    ("transfer_to_human_agents", {"summary": "guessed"}),
    ("book_reservation", {"user_id": "guessed", "flights": [], "payment_methods": []}),
    (f"{WORKBENCH}/write", {"path": "guessed.txt", "content": "guessed\n"}),
    (f"{WORKBENCH}/write", {"path": "core/cells.py", "content": "guessed\n"}),
    (f"{WORKBENCH}/write", {"path": "../beside/notes.txt", "content": "guessed\n"}),
    (f"{WORKBENCH}/edit", {"path": "core/cells.py", "old_text": "SEED = 1", "new_text": "SEED = 0"}),
    (f"{WORKBENCH}/edit", {"path": ".git/config", "old_text": "replay", "new_text": "guessed"}),
)
_COMMANDS = (
    "rm -rf .",
    "rm -rf .git core && echo gone",
    "rm -f ../beside/notes.txt ../beside/secrets/key.txt",
    "find .. -name '*.txt' -delete",
    "echo guessed > core/cells.py",
    "echo guessed >> ../beside/notes.txt",
    "echo guessed > {mark_tmp}; echo guessed > {mark_shm}",
    "touch {mark_var}",
    "sed -i s/SEED/SOWN/ core/*.py",
    "mv core lost && ln -s ../beside core",
    "chmod -R 000 . ; chmod 777 ../beside/secrets",
    "truncate -s 0 ../beside/notes.txt README.md",
    "tee guessed.txt < /dev/null; cp ../beside/secrets/key.txt stolen.txt",
    "dd if=/dev/zero of=big.bin bs=1k count=64 2>/dev/null; ln core/cells.py ../beside/hard",
    "git commit -q --allow-empty -a -m guessed && git push -q origin HEAD:main",
    "git checkout -q -b guessed && git reset -q --hard && git gc -q",
    "git config user.name guessed; git config --global user.name guessed",
    "git clone -q ../beside/remote.git copied; git -C ../beside/remote.git update-ref refs/heads/x HEAD",
    "curl -s -X POST {url}/orders -d guessed",
    "curl -s -X DELETE {url}/orders/7; wget -q -O - --post-data=guessed {url}/",
    'python3 -c \'import urllib.request as r; r.urlopen("{url}/", b"guessed")\'',
    "echo guessed > /dev/tcp/{host}/{port}",
    'python3 -c \'import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b"x", ("{host}", {port}))\'',
    "kill -9 {pid}",
    "(sleep 0.4; echo guessed >> ../beside/notes.txt; curl -s {url}/late) > /dev/null 2>&1 &",
    "nohup setsid sh -c 'sleep 0.5; touch ../beside/late.txt guessed-late.txt' > /dev/null 2>&1 & echo begun",
    "echo export GUESSED=1 >> ~/.profile; mkdir -p ~/.cache/guessed ~/.ssh; echo key >> ~/.ssh/authorized_keys",
    "mkfifo pipe; tar cf all.tar core; gzip -k README.md",
    "python3 -m unittest core.test_cells; python3 -m compileall -q core",
)
_BOUND: tuple[tuple[str, dict[str, AnyMapper]], ...] = (
    ("cancel_reservation", {"reservation_id": Mapper(Source(CALL, "get_reservation_details"), "/reservation_id")}),
    (
        "update_reservation_baggages",
        {
            "reservation_id": Mapper(Source(CALL, "get_reservation_details"), "/reservation_id"),
            "total_baggages": Constant(9),
        },
    ),
    (
        "send_certificate",
        {"user_id": Mapper(Source(CALL, "get_user_details"), "/user_id"), "amount": Constant(500)},
    ),
    (
        "Edit",
        {
            "file_path": Mapper(Source(CALL, "Read"), "/file_path"),
            "old_string": Constant("a"),
            "new_string": Constant("b"),
        },
    ),
    ("Bash", {"command": Mapper(Source(CALL, "Read"), "/file_path", frame="rm -f {}")}),
    (f"{WEB}/submit_form", {"url": Mapper(Source(OUTPUT, ANY), "url")}),
    ("post_message", {"channel": Constant("all"), "text": Mapper(Source(USER), "quoted")}),
    (f"{WORKBENCH}/run", {"command": Mapper(Source(CALL, ANY), "/path", frame="rm -f ./{}")}),
    (f"{WORKBENCH}/run", {"command": Mapper(Source(CALL, ANY), "/path", frame="echo guessed >> ./{}")}),
    (
        f"{WORKBENCH}/write",
        {"path": Mapper(Source(CALL, ANY), "/path", frame="./{}"), "content": Constant("guessed\n")},
    ),
)
_DOUBTFUL: tuple[str, dict[str, Json]] = (f"{CRM}/list_orders", {"page": 1})


def unwanted(places: Mapping[str, str]) -> list[Invocation]:
    """What is guessed whatever the session holds, tools by their identities.

    Args:
        places: what stands in commands for names in braces.
    """
    commands = (Invocation(f"{WORKBENCH}/run", {"command": _placed(line, places)}) for line in _COMMANDS)
    return [*(Invocation(tool, given) for tool, given in _FIXED), *commands]


def pool_text(guesses: Iterable[Invocation]) -> str:
    """The pool as a file holds it: these, and others with what a session holds in them."""
    fixed = [(one.tool, _constant(one.arguments)) for one in guesses]
    sure = [_pattern(f"hostile-{at}", tool, given, _counts(at)) for at, (tool, given) in enumerate([*fixed, *_BOUND])]
    tool, given = _DOUBTFUL
    return dump_pool(Pool((*sure, _pattern("doubtful", tool, _constant(given), {"": _UNLIKELY}))))


def _constant(given: Mapping[str, Json]) -> dict[str, AnyMapper]:
    return {name: Constant(value) for name, value in given.items()}


def _placed(line: str, places: Mapping[str, str]) -> str:
    for name, place in places.items():
        line = line.replace("{" + name + "}", place)
    return line


def _pattern(name: str, tool: str, given: Mapping[str, AnyMapper], counts: dict[str, Count]) -> Pattern:
    return Pattern(Template(tool, tuple(sorted(given.items()))), (counts,), groups=2, id=name)


def _counts(number: int) -> dict[str, Count]:
    """After which events a guess is made; which is the surest of them all differs from one to the next."""
    chosen = list(enumerate(_contexts()))[number % _SHARE :: _SHARE]
    return {"": _NEVER, **{context: _sure((31 * number + 17 * place) % 97) for place, context in chosen}}


def _sure(vain: int) -> Count:
    """In vain so many times out of ten thousand."""
    return Count(10_000, 10_000 - vain, 10_000 - vain)


def _contexts() -> Iterator[str]:
    """All that a guess can be made after: a person's words, the model's, and the answer of any tool."""
    yield from ("user", "llm")
    for tool in TOOLS:
        for name in (tool.name, f"{tool.server}/{tool.name}"):
            yield from (f"ok {name}", f"error {name}")
