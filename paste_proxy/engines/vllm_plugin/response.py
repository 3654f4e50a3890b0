"""A response that goes on past its tool calls, in the engine, where their outputs are known.

It is a session of vLLM's own kind (`StreamingInput`), so that its context stays where it is between two turns: what
the tools said is the session's next input. As far as the rest of the server sees, each turn is a response of its own.
"""

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from paste_proxy.engines.vllm_plugin.appended import Appended, behind, behind_turn
from paste_proxy.engines.vllm_plugin.asked import response_key
from paste_proxy.engines.vllm_plugin.desk import Desk
from paste_proxy.engines.vllm_plugin.merging import Account, Message, answered_turn
from paste_proxy.engines.vllm_plugin.probe import found
from paste_proxy.events.invocation import Invocation, read_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to the engine, as the server makes it."""

    serving: Any
    """vLLM's `OpenAIServingChat`."""
    engine: Any
    request: Any
    """The client's `ChatCompletionRequest`."""
    prompt: dict[str, Any]
    params: Any
    request_id: str
    further: dict[str, Any]
    linger_s: float
    exact: bool


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the model wrote in a turn that calls tools."""

    content: str | None
    calls: list[tuple[str, str, str]]
    invocations: list[Invocation]


class Response:
    """Turns of one response: `turn()` once, and again as long as `answered` says that the last one was answered."""

    def __init__(self, asked: Asked, desk: Desk) -> None:
        self._asked, self._desk, self._key = asked, desk, response_key(asked.request_id)
        self._held: list[int] = list(asked.prompt["prompt_token_ids"])
        """All tokens that the engine has of it."""
        self._messages: list[Any] = list(asked.request.messages)
        self._prompt = self._held[:]
        """What the turn under way was written to."""
        self.account = Account(len(self._held))
        self.answered: list[Message] | None = None
        """The messages of the last turn, if its calls were answered."""
        self._inputs: asyncio.Queue[Any] = asyncio.Queue()
        self._inputs.put_nowait(found("vllm.engine.protocol:StreamingInput")(prompt=asked.prompt))
        params = asked.params.clone()
        params.output_kind = found("vllm.sampling_params:RequestOutputKind").DELTA
        self._params = params
        self._stream = asked.engine.generate(self._chunks(), params, asked.request_id, **asked.further)

    async def turn(self) -> AsyncIterator[Any]:
        """What the engine gives of a turn; the last of it is marked as finished."""
        self.answered = None
        texts: list[str] = []
        ids: list[int] = []
        async for output in self._stream:
            completion = output.outputs[0]
            texts.append(completion.text)
            ids.extend(completion.token_ids)
            self.account.written += len(completion.token_ids)
            output.prompt_token_ids = self._prompt
            if completion.finish_reason is None:
                yield output
                continue
            self._held += ids
            try:
                await self._decide("".join(texts), ids, completion.finish_reason)
            except Exception:  # noqa: BLE001 - the response ends as it would have without the plug-in
                self._desk.fault("a turn could not be answered")
            output.finished = True
            yield output
            if self.answered is None:
                await self.close()
            return

    async def close(self) -> None:
        """It is over: its session ends, by itself or because the client has gone."""
        self._desk.forget(self._key)
        self._held, self._prompt = [], []
        self._inputs.put_nowait(None)
        async for _ in self._stream:
            pass

    async def abort(self) -> None:
        """The client has gone."""
        self._desk.forget(self._key)
        await self._stream.aclose()

    async def _chunks(self) -> AsyncIterator[Any]:
        while (chunk := await self._inputs.get()) is not None:
            yield chunk

    async def _decide(self, text: str, ids: list[int], reason: str) -> None:
        """Answer the turn's calls, if all of their outputs are known and fit in."""
        turn = self._turn(text, ids) if reason == "stop" else None
        if turn is None:
            return
        outputs = await self._desk.take(self._key, turn.invocations, self._asked.linger_s)
        if outputs is None:
            self._desk.counts["misses"] += 1
            self._desk.ended(self._key, turn.invocations, lambda late: self._warm(turn, late))
            return
        messages = answered_turn(turn.content, turn.calls, outputs)
        following = await self._rendered([*self._messages, *messages], then=True)
        appended = await self._appended(following, messages)
        left = self._params.max_tokens - self.account.written
        if appended is None or left < 1 or len(self._held) + len(appended.tokens) >= self._longest:
            self._desk.counts["unfit"] += 1
            return
        self._go_on(appended, left)
        self._messages += messages
        self.answered = messages
        self._desk.counts["hits"] += 1
        self._desk.counts["rewritten"] += not appended.exact

    def _go_on(self, appended: Appended, left: int) -> None:
        """The next input: the token that ended the turn, which the engine has only drawn yet, and what follows it."""
        params = self._params.clone()
        params.max_tokens = left
        tokens = [self._held[-1], *appended.tokens]
        self._inputs.put_nowait(
            found("vllm.engine.protocol:StreamingInput")(
                prompt=found("vllm.inputs:tokens_input")(tokens), sampling_params=params
            )
        )
        self._held += appended.tokens
        self._prompt = self._held[:]
        self.account.tools += len(appended.tokens)

    async def _appended(self, following: list[int], messages: list[Message]) -> Appended | None:
        exactly = behind(self._held, following)
        if exactly is not None or self._asked.exact:
            return exactly
        turn = await self._rendered([*self._messages, messages[0]], then=False)
        return behind_turn(self._held[-1], turn, following)

    async def _warm(self, turn: _Turn, outputs: list[str]) -> None:
        """Outputs have come too late: have the next request's context worked off before it is asked."""
        messages = answered_turn(turn.content, turn.calls, outputs)
        try:
            following = await self._rendered([*self._messages, *messages], then=True)
            if len(following) >= self._longest:
                return
            params = self._asked.params.clone()
            params.max_tokens, params.min_tokens = 1, 0
            prompt = found("vllm.inputs:tokens_input")(following)
            async for _ in self._asked.engine.generate(prompt, params, f"paste-warm-{self._key}"):
                pass
        except Exception:  # noqa: BLE001 - the next request works it off by itself
            self._desk.fault("what follows could not be got ready")

    @property
    def _longest(self) -> int:
        longest: int = self._asked.serving.model_config.max_model_len
        return longest

    def _turn(self, text: str, ids: list[int]) -> _Turn | None:
        """The calls that the model's own parser finds; None: there are none, or some that cannot be read."""
        serving, request = self._asked.serving, self._asked.request
        parser = serving._make_parser(
            request, serving.renderer.tokenizer, serving._effective_chat_template_kwargs(request)
        )
        _, content, calls = parser.parse(text, request, enable_auto_tools=True, model_output_token_ids=ids)
        if not calls:
            return None
        try:
            invocations = [Invocation(call.name, read_arguments(call.arguments)) for call in calls]
        except ValueError:
            return None
        new_id = found("vllm.renderers.chat_utils:make_tool_call_id")
        return _Turn(content, [(call.id or new_id(), call.name, call.arguments) for call in calls], invocations)

    async def _rendered(self, messages: list[Any], *, then: bool) -> list[int]:
        """The tokens of a request with these messages, made as the server makes any.

        Args:
            then: whether the model is to go on behind them.
        """
        given = deepcopy(messages)  # arguments are read in place
        request = self._asked.request.model_copy(update={"messages": given, "add_generation_prompt": then})
        _, inputs = await self._asked.serving.online_renderer.render_chat(request)
        tokens: list[int] = list(inputs[0]["prompt_token_ids"])
        return tokens
