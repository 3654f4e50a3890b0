"""A file's bytes as text and back: its encoding, its mark and its line ends are kept."""

import codecs
from dataclasses import dataclass

from paste_proxy.tools.workbench.workspace import Unable

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program"),
)
_LOOKED_AT = 8_192


@dataclass(frozen=True, slots=True)
class Text:
    """A text file."""

    text: str
    """With line feeds alone where every line end is CR LF; else just as it is."""
    encoding: str
    mark: bytes
    """The byte order mark that it began with."""
    crlf: bool

    def with_text(self, text: str) -> bytes:
        """The file's bytes with another text in it.

        Raises:
            Unable: the file's encoding cannot write it.
        """
        try:
            return self.mark + (text.replace("\n", "\r\n") if self.crlf else text).encode(self.encoding)
        except UnicodeEncodeError as fault:
            sign = fault.object[fault.start]
            raise Unable(f"the file is {self.encoding}, which has no {sign!r}; use other characters") from None

    def in_its_form(self, text: str) -> str:
        """A piece of text that is to be found in it, or put into it."""
        return text.replace("\r\n", "\n") if self.crlf else text


def what_binary(data: bytes) -> str:
    """What a file that is no text is: `a PNG image`; empty for a text."""
    for signature, kind in _IMAGES:
        if data.startswith(signature):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "a WebP image"
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "binary data" if b"\0" in data[:_LOOKED_AT] and not is_utf16 else ""


def read_text(data: bytes) -> Text:
    """The text in a file's bytes: by its mark, or UTF-8, or else Latin-1, which every byte can be."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _text(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                break
    try:
        return _text(data.decode(), "utf-8", b"")
    except UnicodeDecodeError:
        return _text(data.decode("latin-1"), "latin-1", b"")


def _text(text: str, encoding: str, mark: bytes) -> Text:
    ends = text.count("\r\n")
    crlf = ends > 0 and ends == text.count("\n")
    return Text(text.replace("\r\n", "\n") if crlf else text, encoding, mark, crlf)
