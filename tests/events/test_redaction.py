"""No secret reaches a line, the same one always leaves the same stand-in, and the rest stays as it was."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.codec import decode, dump, record_of
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.redaction import Redactor
from paste_proxy.events.result import Status
from paste_proxy.events.secret_traces import may_hold_secret, names_secret, secret_spans
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.events.values import Json
from tests.events.strategies import values

REDACTOR = Redactor(b"key of this test")
ALNUM = string.ascii_letters + string.digits


def made_of(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), min_size=least, max_size=most)


def after(prefix: str, alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    return made_of(alphabet, least, most).map(lambda rest: prefix + rest)


MADE = st.one_of(
    after("sk-", ALNUM + "-_", 20, 60),
    after("sk-ant-api03-", ALNUM + "-_", 20, 60),
    after("sk_live_", ALNUM, 20, 30),
    after("ghp_", ALNUM, 36, 36),
    after("github_pat_", ALNUM + "_", 40, 60),
    after("glpat-", ALNUM, 20, 20),
    after("hf_", ALNUM, 34, 34),
    after("xoxb-", ALNUM + "-", 20, 40),
    after("AKIA", string.ascii_uppercase + string.digits, 16, 16),
    after("AIza", ALNUM + "-_", 35, 35),
    st.builds(
        "eyJ{}.eyJ{}.{}".format,
        made_of(ALNUM + "-_", 10, 40),
        made_of(ALNUM + "-_", 10, 60),
        made_of(ALNUM + "-_", 10, 43),
    ),
    after("-----BEGIN RSA PRIVATE KEY-----\n", ALNUM + "+/=\n", 40, 200).map(
        lambda text: text + "\n-----END RSA PRIVATE KEY-----"
    ),
)
"""Secrets that are known by their make, wherever they stand."""
PLACES = st.sampled_from(
    [
        "{}",
        "use {} now",
        '"{}"',
        "a\n{}\nb",
        "x={};",
        "https://h.example/?t={}&u=1",
        "\\n{}\\n",
        "`{}`",
        '{{"k": "{}"}}',
    ]
)

UNKNOWN = after("Zq7", ALNUM + "+.~!-_", 6, 40)
"""Secrets that only the name before them betrays."""
NAMED_PLACES = st.sampled_from(
    [
        "password: {}",
        'password = "{}"',
        "export API_KEY={}",
        "api-key: '{}'",
        "apiKey: {}",
        "X-Auth-Token: {}\nnext",
        '{{"client_secret": "{}", "a": 1}}',
        '{{\\"access_token\\": \\"{}\\"}}',
        "https://h.example/a?api_key={}",
        "https://h.example/a?b=1&key={}",
        "Authorization: Bearer {}",
        "-H 'authorization: token {}'",
        "Cookie: session={}",
        "GITHUB_TOKEN={} make release",
        "postgres://user:{}@db.example/x",
    ]
)


def logged(value: Json) -> str:
    event = ToolOutput(session="s", ts=None, call_id="c", tool="t", output=value, status=Status.OK)
    return REDACTOR.line(record_of(event, 0)).decode()


@given(MADE, PLACES)
def test_a_secret_of_known_make_never_reaches_the_line(secret: str, place: str) -> None:
    line = logged(place.format(secret))
    assert secret not in line
    assert secret.replace("\n", "\\n") not in line
    assert "REDACTED-" in line


@given(UNKNOWN, NAMED_PLACES)
def test_a_secret_after_a_telling_name_never_reaches_the_line(secret: str, place: str) -> None:
    line = logged({"text": [place.format(secret)]})
    assert secret not in line


@pytest.mark.parametrize(
    "name",
    [
        "authorization", "Authorization", "api_key", "apiKey", "API-KEY", "x-goog-api-key", "token", "access_token",
        "refreshToken", "password", "db_password", "passwd", "secret", "clientSecret", "cookie", "Set-Cookie",
        "credentials", "private_key", "AWS_SECRET_ACCESS_KEY", "SecretString", "api keys",
    ],
)  # fmt: skip
@given(secret=UNKNOWN)
def test_a_value_under_a_secret_name_never_reaches_the_line(name: str, secret: str) -> None:
    places: list[Json] = [{name: secret}, {"a": [{name: [secret, "x"]}]}, {name: {"inner": secret}}]
    for value in places:
        assert secret not in logged(value)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "input_tokens",
        "output_tokens",
        "tokens",
        "tokenizer",
        "key",
        "keys",
        "monkey",
        "author",
        "passage",
    ],
)
def test_counts_and_lookalikes_keep_their_values(name: str) -> None:
    value: Json = {name: 1234, "x": [{name: "harmless words"}]}
    assert not names_secret(name)
    assert REDACTOR.value(value) == value


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096, temperature: 0",
        "the bearer of this letter",
        "task-force-management-of-2024-is-long",
        "git@github.com:user/repo.git",
        "https://example.com:8080/a@b",
        "const password: string",
        "const apiKey = resolveKey(config)",
        "a token of thanks",
        "keyboard: qwerty",
        "",
    ],
)
def test_ordinary_text_stays_as_it_was(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize(
    "command",
    [
        "curl -u bob:{} https://h.example",
        "curl -sSu bob:{} https://h.example",
        "curl -fsS \\\n  --user 'bob:{}' https://h.example",
        'curl --proxy-user=bob:{} -u "al:{}" https://h.example',
        '{{"command": "curl -u \\"bob:{}\\" https://h.example"}}',
        "curl -u :{} https://dev.azure.example/_git/x",
        "curl -X POST 'https://h.example/?a=1&b=2' -U bob:{} -d x",
        "wget --http-password={} https://h.example",
        "wget --user=bob --password {} https://h.example",
        "mysql -u root -p{} shop",
        "/usr/bin/mysqldump -uroot -p'{}' shop > dump.sql",
        "mariadb-dump --password={} shop",
        "mongosh -u bob -p {} h.example/shop",
        "redis-cli -h h.example -a {} ping",
        "PGPASSWORD={} psql -h h.example -c 'select 1'",
        "export MYSQL_PWD='{}'; mysql shop",
        "sshpass -p {} ssh bob@h.example",
        "sshpass -p'{}' scp a bob@h.example:",
        "SSHPASS={} sshpass -e ssh bob@h.example",
        "cd x && docker login -u bob -p {} registry.example",
        "docker login --username bob --password={}",
        "helm registry login -u bob --password {} registry.example",
    ],
)
@given(secret=made_of(ALNUM + "+.~!-_", 1, 12).map("q".__add__))
def test_a_secret_among_a_command_s_options_never_reaches_the_line(command: str, secret: str) -> None:
    line = command.replace("{}", "\0").replace("{{", "{").replace("}}", "}")
    stand_in = REDACTOR.stand_in(secret)
    assert REDACTOR.text(line.replace("\0", secret)) == line.replace("\0", stand_in)
    assert may_hold_secret(line.replace("\0", secret).encode())


@pytest.mark.parametrize(
    ("argv", "secret_at"),
    [
        (["curl", "-u", "bob:hunter2", "https://h.example"], 2),
        (["mysql", "-phunter2", "shop"], 1),
        (["docker", "login", "-u", "bob", "-p", "hunter2"], 5),
        (["bash", "-lc", "sshpass -p hunter2 ssh h.example"], 2),
    ],
)
def test_so_it_is_in_a_command_given_as_a_list_of_words(argv: list[str], secret_at: int) -> None:
    words: list[Json] = [*argv]
    words[secret_at] = argv[secret_at].replace("hunter2", REDACTOR.stand_in("hunter2"))
    assert REDACTOR.value([*argv]) == words
    assert "hunter2" not in logged({"command": [*argv]})


@pytest.mark.parametrize(
    "text",
    [
        "docker run -u 1000:1000 --user 33:33 alpine id",
        "docker run -d --name mysql -p3306:3306 -p 8080:80 mysql:8",
        "docker run --name mongo -p 27017:27017 mongo",
        "docker build -p x . && npm login -p y",
        "mysql -u root -p shop",
        "mysql --protocol=tcp -P 3306 shop",
        "curl https://h.example:8080/a -o out:put",
        "curl -u bob https://h.example",
        'curl -u "bob:$PASSWORD" https://h.example',
        "curl -u bob:$TOKEN https://h.example",
        "curl -u <user>:<password> https://h.example",
        "curl https://h.example; date -u +%H:%M",
        "curl https://h.example | sort -u a:b",
        "curl https://h.example\nsudo -u bob:staff ls",
        "date -u +%H:%M",
        "rsync -u a host:path",
        "mkdir -p src/app && ssh -p 2222 h.example",
        "echo password | docker login -u bob --password-stdin registry.example",
        "the login page shows -p as a price",
        "libcurl -u a:b",
        "sshpass -f file ssh h.example",
        "redis-cli -h h.example ping",
    ],
)
def test_the_same_letters_of_other_programs_stay(text: str) -> None:
    assert REDACTOR.text(text) == text
    assert REDACTOR.value([*text.split(" ")]) == text.split(" ")


@given(UNKNOWN)
def test_a_value_and_a_text_give_the_same_secret_the_same_stand_in(secret: str) -> None:
    stand_in = REDACTOR.stand_in(secret)
    assert REDACTOR.value({"token": secret}) == {"token": stand_in}
    assert REDACTOR.value({"authorization": f"Bearer {secret}"}) == {"authorization": f"Bearer {stand_in}"}
    assert REDACTOR.text(f'"token": "{secret}"') == f'"token": "{stand_in}"'


def test_an_argument_still_matches_the_output_it_came_from() -> None:
    output = REDACTOR.value({"next_page_token": "CAUQAA9x81"})
    call = REDACTOR.value({"pageToken": "CAUQAA9x81"})
    assert isinstance(output, dict)
    assert isinstance(call, dict)
    assert output["next_page_token"] == call["pageToken"]


def test_a_secret_goes_wherever_else_it_stands_in_the_event() -> None:
    line = logged({"password": "hunter22!", "hint": "type hunter22! twice: hunter22!"})
    assert "hunter22" not in line


def test_another_key_gives_other_stand_ins() -> None:
    assert Redactor(b"one").stand_in("hunter2") != Redactor(b"two").stand_in("hunter2")


@given(values)
def test_redacting_twice_is_redacting_once(value: Json) -> None:
    once = REDACTOR.value({"password": value, "note": "token=abcdef123", "plain": value})
    assert REDACTOR.value(once) == once


@given(values)
def test_what_the_quick_look_passes_holds_nothing_to_redact(value: Json) -> None:
    if not may_hold_secret(dump({"value": value})):
        assert REDACTOR.value(value) == value


@given(
    st.lists(st.sampled_from(["password", "İ", "=", ": ", '"', "\\", "\n", "'", "abc", "://", "@", "é", "token", "K"]))
)
def test_spans_lie_in_the_text_in_order_and_apart(parts: list[str]) -> None:
    text = "".join(parts)
    spans = secret_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_a_letter_that_grows_when_lowered_moves_no_span() -> None:
    assert REDACTOR.text("İİİ password: hunter22 İ") == f"İİİ password: {REDACTOR.stand_in('hunter22')} İ"


@given(MADE | UNKNOWN.map("password: {}".format), st.text(max_size=20), st.text(max_size=20))
def test_the_quick_look_never_overlooks_what_the_real_one_finds(secret: str, left: str, right: str) -> None:
    text = f"{left} {secret} {right}"
    if secret_spans(text):
        assert may_hold_secret(text.encode())


def test_text_made_to_be_slow_is_not() -> None:
    for trap in (
        "eyJ" * 7_000,
        "-----BEGIN PRIVATE KEY-----" * 800,
        "bearer " * 3_000,
        'password="' * 2_000,
        "://" * 7_000,
        "curl " * 7_000,
        "curl -u a" * 4_000,
        "curl " + "-u'a:" * 5_000,
        "docker login -p " * 2_000,
        "mysql -p'" * 3_000,
    ):
        REDACTOR.text(trap)


def test_a_redacted_line_is_still_the_event() -> None:
    call = ToolCall(
        session="s", ts=1.0, call_id="c", invocation=Invocation("login", {"user": "u", "password": "hunter22"})
    )
    event = decode(REDACTOR.line(record_of(call, 4)))
    assert isinstance(event, ToolCall)
    assert event.invocation == Invocation("login", {"user": "u", "password": REDACTOR.stand_in("hunter22")})
