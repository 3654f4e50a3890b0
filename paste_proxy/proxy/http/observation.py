"""One LLM exchange as the observer is shown it: a copy, bounded, decoded, and harmless to the client.

Every fault of the observer ends here. Beyond a bound, or in a coding that cannot be read, the turn is
reported as cut, so that nothing is concluded from half of it.
"""

from collections.abc import Callable, Mapping

from paste_proxy.proxy.http.decoding import Decoder, decoded, decoder
from paste_proxy.proxy.ports import Pieces, TurnGate, TurnTee, Waiting
from paste_proxy.turns.types import Admit

_DECODED_REQUEST_BYTES = 4 * 2**20
"""Decoding a request holds the event loop, so larger ones pass unread."""


class Observation:
    """Opens the tee when the request has gone upstream and feeds it what the client was given.

    Args:
        wire: the exchange's protocol.
        target: the raw request target.
        headers: the request's headers.
        answer_bytes: how much of an answer is shown, after decoding.
        fault: called with a place for every fault contained.
    """

    __slots__ = ("_decoder", "_fault", "_gate", "_headers", "_left", "_opened", "_target", "_tee", "_whole", "_wire")

    def __init__(
        self,
        gate: TurnGate,
        wire: str,
        target: str,
        headers: Mapping[str, str],
        answer_bytes: int,
        fault: Callable[[str], None],
    ) -> None:
        self._gate, self._wire, self._target, self._headers = gate, wire, target, headers
        self._left, self._fault = answer_bytes, fault
        self._tee: TurnTee | None = None
        self._decoder: Decoder | None = None
        self._opened = False
        self._whole = True

    def sent(self, body: Pieces | None) -> None:
        """The whole request is on its way; `body` is None where it was too large to keep."""
        if not self._opened:
            self._open(body, None)
        elif self._tee is not None:
            self._tee.sent()

    def asks(self, body: Pieces, waiting: Waiting) -> None:
        """The whole request is here, and is sent once `waiting.entry` says so. That is set even if we break."""
        self._open(body, waiting)
        if self._tee is None and not waiting.entry.done():
            waiting.entry.set_result(Admit(turn=0, waited_s=0.0))

    def _open(self, body: Pieces | None, waiting: Waiting | None) -> None:
        self._opened = True
        try:
            self._tee = self._gate.opened(
                wire=self._wire, target=self._target, headers=self._headers, body=self._plain(body), waiting=waiting
            )
        except Exception:  # noqa: BLE001 - the observer may be broken, the exchange goes on
            self._drop()

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        """The answer's head has been passed on. An upstream may answer before it has read the request."""
        self.sent(None)
        coding = headers.get("Content-Encoding", "identity")
        if coding.lower() != "identity":
            self._decoder = decoder(coding)
            self._whole = self._decoder is not None
        if self._tee is None:
            return
        try:
            self._tee.answer(status, headers)
        except Exception:  # noqa: BLE001
            self._drop()

    def chunk(self, data: bytes) -> None:
        """These bytes have been written to the client."""
        if self._tee is None or not self._whole:
            return
        try:
            shown = data if self._decoder is None else self._decoder.decode(data, self._left)
            self._left -= len(shown)
            if self._left < 0:
                self._whole = False
            elif shown:
                self._tee.chunk(shown)
        except ValueError:
            self._whole = False
        except Exception:  # noqa: BLE001
            self._drop()

    def closed(self, *, clean: bool) -> None:
        """The exchange is over. A request that never went upstream was never shown."""
        tee, self._tee = self._tee, None
        self._opened = True
        if tee is None:
            return
        try:
            tee.closed(clean=clean, whole=self._whole)
        except Exception:  # noqa: BLE001
            self._fault("tee")

    def _plain(self, body: Pieces | None) -> Pieces | None:
        coding = self._headers.get("Content-Encoding", "identity")
        if body is None or coding.lower() == "identity":
            return body
        plain = decoded(b"".join(body), coding, _DECODED_REQUEST_BYTES)
        return None if plain is None else (plain,)

    def _drop(self) -> None:
        self._tee = None
        self._fault("tee")
