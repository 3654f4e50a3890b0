"""Tool outputs of a given size that look like those of real tools: made up, and the same in every run.

Six forms: search results and records as JSON (as it is, or as a text in MCP's envelope), what a search in files
finds, a source file with numbered lines, the log of a test run, and a web page.
"""

from collections import deque
from collections.abc import Callable
from random import Random

from paste_proxy.events.values import Json, canonical_text

FORMS = ("results", "records", "listing", "source", "log", "page")
_SYLLABLES = ("ba", "co", "du", "fe", "gi", "ha", "lo", "mi", "na", "pe", "ra", "so", "ti", "vo", "we")
_ENDINGS = ("py", "ts", "go", "md", "json")
_REMEMBERED = 40


class Writer:
    """Writes outputs and remembers the links, paths and ids that it wrote last, which the next call may ask for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the same in every run
        self._words = ["".join(self.random.choices(_SYLLABLES, k=self.random.randint(1, 4))) for _ in range(2_000)]
        self.said: dict[str, deque[str]] = {
            kind: deque(maxlen=_REMEMBERED) for kind in ("url", "path", "id", "word", "date")
        }
        """By kind."""
        self._forms: dict[str, Callable[[], str]] = {
            "listing": self._found_line,
            "source": self._source_line,
            "log": self._log_line,
            "page": self._page_line,
        }

    def output(self, form: str, size: int) -> Json:
        """An output of one of the `FORMS`, of `size` characters, JSON up to one entry more."""
        if form in self._forms:
            return self._text(self._forms[form], size)
        entry = self._result if form == "results" else self._record
        entries: list[Json] = []
        written = 0
        while written < size:
            entries.append(entry())
            written += len(canonical_text(entries[-1]))
        payload: Json = {form: entries, "total": len(entries)}
        if self.random.random() < 0.5:
            return payload
        return {"content": [{"type": "text", "text": canonical_text(payload)}]}

    def sentence(self, words: int) -> str:
        """Made-up words, a name among them."""
        said = [self._word() for _ in range(words)]
        said[words // 2] = said[words // 2].title()
        return " ".join(said).capitalize() + "."

    def value(self, kind: str) -> str:
        """Something of this kind that was written before, or new."""
        said = self.said[kind]
        if said and self.random.random() < 0.8:
            return self.random.choice(said)
        return {"url": self._url, "path": self._path, "id": self._id, "word": self._word, "date": self._date}[kind]()

    def _text(self, line: Callable[[], str], size: int) -> str:
        lines: list[str] = []
        written = 0
        while written < size:
            lines.append(line())
            written += len(lines[-1]) + 1
        return "\n".join(lines)[:size]

    def _result(self) -> Json:
        return {
            "title": self.sentence(6),
            "url": self._url(),
            "snippet": self.sentence(24),
            "published": self._date(),
            "score": round(self.random.random(), 3),
        }

    def _record(self) -> Json:
        items: list[Json] = [
            {"sku": self._id(), "price": self.random.randint(1, 90_000) / 100, "count": self.random.randint(1, 5)}
            for _ in range(self.random.randint(1, 4))
        ]
        return {
            "order_id": self._id(),
            "user": f"{self._word()}_{self._word()}_{self.random.randint(1, 9999)}",
            "status": self.random.choice(("pending", "delivered", "cancelled")),
            "placed": self._date(),
            "items": items,
            "address": {"city": self._word().title(), "zip": str(self.random.randint(10_000, 99_999))},
        }

    def _found_line(self) -> str:
        return f"{self._path()}:{self.random.randint(1, 900)}:    {self._code()}"

    def _source_line(self) -> str:
        indent = "    " * self.random.randint(0, 4)
        return f"{self.random.randint(1, 900):6}\t{indent}{self._code()}"

    def _log_line(self) -> str:
        moment = f"{self._date()}T{self.random.randint(10, 23)}:{self.random.randint(10, 59)}:07Z"
        seconds = self.random.randint(1, 9_000) / 1_000
        verdict = self.random.choice(("PASS", "PASS", "PASS", "FAIL", "ok"))
        return f"{moment} {verdict} {self._path()}::test_{self._word()}_{self._word()} ({seconds}s)"

    def _page_line(self) -> str:
        match self.random.randint(0, 5):
            case 0:
                return f"## {self.sentence(4)}"
            case 1:
                return f"- [{self.sentence(3)}]({self._url()}), {self._long_date()}"
            case _:
                return f'{self.sentence(18)} "{self._word()} {self._word()}" {self.sentence(12)}'

    def _code(self) -> str:
        one, other = self._word(), self._word()
        match self.random.randint(0, 3):
            case 0:
                return f"def {one}_{other}(self, {self._word()}: str) -> None:"
            case 1:
                return f'{one}.{other} = {self._word()}("{self._word()}", {self.random.randint(0, 99)})'
            case 2:
                return f"if {one} is None and {other}: return {one.title()}{other.title()}"
            case _:
                return f"# {self.sentence(8)}"

    def _word(self) -> str:
        return self._note("word", self.random.choice(self._words))

    def _url(self) -> str:
        word = self.random.choice(self._words)
        return self._note("url", f"https://www.{word}.org/{self._word()}/{self.random.randint(1, 99_999)}?q={word}")

    def _path(self) -> str:
        folders = "/".join(self._word() for _ in range(self.random.randint(1, 4)))
        return self._note("path", f"{folders}/{self._word()}.{self.random.choice(_ENDINGS)}")

    def _id(self) -> str:
        return self._note("id", f"{self.random.choice('WXYZ')}{self.random.randint(1_000_000, 9_999_999)}")

    def _date(self) -> str:
        day = f"20{self.random.randint(20, 25)}-{self.random.randint(1, 12):02}-{self.random.randint(1, 28):02}"
        return self._note("date", day)

    def _long_date(self) -> str:
        return f"{self.random.choice(('March', 'May', 'October'))} {self.random.randint(1, 28)}, 2024"

    def _note(self, kind: str, value: str) -> str:
        self.said[kind].append(value)
        return value
