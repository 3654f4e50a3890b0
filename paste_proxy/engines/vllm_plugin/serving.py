"""The tool cache in vLLM's chat completions: three of its methods are gone around, for requests that speak of PASTE.

A request does if its `vllm_xargs` hold something of PASTE's, or outputs wait for it, and if vLLM can keep its session:
one answer, written freely, without stop texts. All others are served as if the plug-in were not there.
"""

from collections.abc import AsyncIterator
from contextvars import ContextVar
from functools import wraps
from typing import Any

from paste_proxy.engines.vllm_plugin.asked import response_key
from paste_proxy.engines.vllm_plugin.desk import Desk
from paste_proxy.engines.vllm_plugin.merging import Message, Stream
from paste_proxy.engines.vllm_plugin.order import task_of
from paste_proxy.engines.vllm_plugin.response import Asked, Response
from paste_proxy.engines.vllm_plugin.settings import Settings
from paste_proxy.events.values import dumps, loads

_REQUEST: ContextVar[Any] = ContextVar("paste_request", default=None)
"""The chat request that is being handed to the engine."""
_DATA, _DONE = "data: ", "data: [DONE]\n\n"


def install(serving: Any, desk: Desk, settings: Settings) -> None:
    """Go around the methods of vLLM's `OpenAIServingChat`."""
    serving.engine_client = _Engine(serving, serving.engine_client, desk, settings)
    create, stream, full = (
        serving.create_chat_completion,
        serving.chat_completion_stream_generator,
        serving.chat_completion_full_generator,
    )

    @wraps(create)
    async def create_chat_completion(request: Any, raw_request: Any = None) -> Any:
        token = _REQUEST.set(request)
        try:
            return await create(request, raw_request)
        finally:
            _REQUEST.reset(token)

    @wraps(stream)
    def chat_completion_stream_generator(request: Any, results: Any, *args: Any, **kwargs: Any) -> AsyncIterator[str]:
        if not isinstance(results, Response):
            chunks: AsyncIterator[str] = stream(request, results, *args, **kwargs)
            return chunks
        return _streamed(results, lambda turn: stream(request, turn, *args, **kwargs))

    @wraps(full)
    async def chat_completion_full_generator(request: Any, results: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(results, Response):
            return await full(request, results, *args, **kwargs)
        return await _whole(results, lambda turn: full(request, turn, *args, **kwargs))

    serving.create_chat_completion = create_chat_completion
    serving.chat_completion_stream_generator = chat_completion_stream_generator
    serving.chat_completion_full_generator = chat_completion_full_generator


class _Engine:
    """The engine as chat completions see it."""

    def __init__(self, serving: Any, engine: Any, desk: Desk, settings: Settings) -> None:
        self._serving, self._engine, self._desk, self._settings = serving, engine, desk, settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def generate(self, prompt: Any, sampling_params: Any, request_id: str, **further: Any) -> Any:
        """A `Response` where tools' outputs may come, else what the engine gives."""
        try:
            response = self._response(prompt, sampling_params, request_id, further)
        except Exception:  # noqa: BLE001 - the request is served as if the plug-in were not there
            self._desk.fault("a response could not be kept open")
            response = None
        return response or self._engine.generate(prompt, sampling_params, request_id, **further)

    def _response(self, prompt: Any, params: Any, request_id: str, further: dict[str, Any]) -> Response | None:
        request = _REQUEST.get()
        if request is None or not self._may_go_on(request, prompt, params, request_id):
            return None
        for_grammars = ("reasoning_ended", "reasoning_parser_kwargs")
        asked = Asked(
            serving=self._serving,
            engine=self._engine,
            request=request,
            prompt=prompt,
            params=params,
            request_id=request_id,
            further={name: value for name, value in further.items() if name not in for_grammars},
            linger_s=min(task_of(params.extra_args).linger_s, self._settings.linger_s),
            exact=self._settings.exact,
        )
        return Response(asked, self._desk)

    def _may_go_on(self, request: Any, prompt: Any, params: Any, request_id: str) -> bool:
        speaks = any(name.startswith("paste_") for name in params.extra_args or ())
        return bool(
            (speaks or self._desk.has(response_key(request_id)))
            and request.tools
            and request.tool_choice in (None, "auto")
            and self._serving.enable_auto_tools
            and self._serving.parser_cls is not None
            and isinstance(prompt, dict)
            and prompt.get("type") == "token"
            and params.n == 1
            and not params.stop
            and params.structured_outputs is None
        )


async def _streamed(response: Response, chunks_of: Any) -> AsyncIterator[str]:
    merged = Stream(response.account)
    ended = False
    try:
        while not ended:
            async for event in chunks_of(response.turn()):
                if event == _DONE or not event.startswith(_DATA):
                    continue
                chunk = loads(event.removeprefix(_DATA).strip())
                assert isinstance(chunk, dict)
                shown = merged.chunk(chunk, response.answered)
                if shown is not None:
                    yield f"{_DATA}{dumps(shown).decode()}\n\n"
            ended = response.answered is None
            merged.next_turn()
        yield _DONE
    finally:
        await response.abort()


async def _whole(response: Response, answer_of: Any) -> Any:
    messages: list[Message] = []
    try:
        while True:
            whole = None
            async for output in response.turn():
                if whole is None:
                    whole = output
                else:
                    whole.add(output, aggregate=True)
            if response.answered is None:
                break
            messages += response.answered
        answer = await answer_of(_once(whole))
    finally:
        await response.abort()
    if messages and getattr(answer, "choices", None):
        answer.choices[0].paste_messages = messages
        for name, value in response.account.usage({}).items():
            setattr(answer.usage, name, value)
    return answer


async def _once(output: Any) -> AsyncIterator[Any]:
    if output is not None:
        yield output
