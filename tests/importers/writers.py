"""Scripts written down as agents' logs have them: the fields that matter, in the order of real files."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from paste_proxy.events.values import Json
from tests.importers.scripted import MODEL, SESSION, START, Call, Carries, Script, Turn

Record = dict[str, Json]
Writer = Callable[[Path, Script], Path]


class Clock:
    """A second further at each look."""

    now = START

    def __call__(self) -> float:
        self.now += 1
        return self.now

    def iso(self) -> str:
        """The next second as logs write it."""
        return datetime.fromtimestamp(self(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(path: Path, records: Iterator[Record]) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def whole(path: Path, value: Json) -> Path:
    """Write one document, over several lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def claude_code(folder: Path, script: Script) -> Path:
    """A transcript: a record for each block of a message."""

    def records() -> Iterator[Record]:
        clock, parent = Clock(), None
        number = 0

        def record(kind: str, message: Json, **more: Json) -> Record:
            nonlocal parent, number
            number += 1
            own: Record = {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "isSidechain": False}
            parent = f"u{number}"
            return own | {"sessionId": SESSION, "timestamp": clock.iso(), "message": message} | more

        yield {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION}
        for said, turns in script.rounds:
            yield record("user", {"role": "user", "content": said})
            yield record(
                "user", {"role": "user", "content": "<system-reminder>\nnone\n</system-reminder>"}, isMeta=True
            )
            for turn in turns:
                head: Record = {"id": f"msg_{number}", "role": "assistant", "model": MODEL}
                if turn.text:
                    yield record("assistant", head | {"content": [{"type": "text", "text": turn.text}]})
                for call in turn.calls:
                    use: Json = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
                    yield record("assistant", head | {"content": [use]})
                for call in turn.calls:
                    result: Record = {"type": "tool_result", "tool_use_id": call.id, "content": call.output}
                    yield record("user", {"role": "user", "content": [result | {"is_error": call.failed}]})

    return lines(folder / "projects" / "-work" / f"{SESSION}.jsonl", records())


def codex(folder: Path, script: Script) -> Path:
    """A rollout: what was said as response items, how calls ended as events before them."""

    def records() -> Iterator[Record]:
        clock = Clock()

        def line(kind: str, payload: Record) -> Record:
            return {"timestamp": clock.iso(), "type": kind, "payload": payload}

        def message(role: str, kind: str, text: str) -> Record:
            return line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

        def ended(call: Call) -> Record:
            item: Record = {
                "type": "CommandExecution",
                "id": call.id,
                "status": "failed" if call.failed else "completed",
            }
            return line("event_msg", {"type": "item_completed", "item": item})

        yield line("session_meta", {"id": SESSION, "cli_version": "0.1"})
        yield message("developer", "input_text", "Be brief.")
        yield message("user", "input_text", "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>")
        yield line("turn_context", {"model": MODEL})
        for said, turns in script.rounds:
            yield message("user", "input_text", said)
            yield line("event_msg", {"type": "user_message", "message": said})
            for turn in turns:
                if turn.text:
                    yield message("assistant", "output_text", turn.text)
                for call in turn.calls:
                    space: Record = {"namespace": f"mcp__{call.server}"} if call.server else {}
                    asked: Record = {
                        "type": "function_call",
                        "name": call.tool,
                        "arguments": json.dumps(call.arguments),
                    }
                    yield line("response_item", asked | space | {"call_id": call.id})
                yield line("token_usage_record", {"response_id": "r"})
                for call in turn.calls:
                    yield ended(call)
                    answer: Record = {"type": "function_call_output", "call_id": call.id, "output": call.output}
                    yield line("response_item", answer)

    return lines(folder / "sessions" / "2026" / f"rollout-2026-01-02T03-04-05-{SESSION}.jsonl", records())


def _response(call: Call, name: str) -> Record:
    told: Record = {"error": call.output} if call.failed else {"output": call.output}
    return {"functionResponse": {"id": call.id, "name": name, "response": told}}


def gemini_cli(folder: Path, script: Script) -> Path:
    """A chat: each message with calls written twice, the second time with what came of them."""

    def ended(call: Call, at: str) -> Record:
        name = f"mcp_{call.server}_{call.tool}" if call.server else call.tool
        shown = f"{call.tool} ({call.server} MCP Server)" if call.server else "A Tool"
        asked: Record = {"id": call.id, "name": name, "args": call.arguments | {"wait_for_previous": False}}
        state: Record = {"status": "error" if call.failed else "success", "timestamp": at, "displayName": shown}
        return asked | state | {"result": [_response(call, name)]}

    def records() -> Iterator[Record]:
        clock, number = Clock(), 0
        yield {"sessionId": SESSION, "projectHash": "ab", "startTime": clock.iso(), "kind": "main"}
        context: Json = {
            "id": "0",
            "type": "user",
            "content": [{"text": "<session_context>\nnone\n</session_context>"}],
        }
        yield {"$set": {"messages": [context]}}
        for said, turns in script.rounds:
            number += 1
            yield {"id": f"m{number}", "timestamp": clock.iso(), "type": "user", "content": [{"text": said}]}
            for turn in turns:
                number += 1
                message: Record = {"id": f"m{number}", "timestamp": clock.iso(), "type": "gemini", "content": turn.text}
                yield message | {"model": MODEL}
                if turn.calls:
                    calls: list[Json] = [ended(call, clock.iso()) for call in turn.calls]
                    yield message | {"model": MODEL, "toolCalls": calls}
                    parts: list[Json] = [_response(call, call.name) for call in turn.calls]
                    yield {"id": f"r{number}", "timestamp": clock.iso(), "type": "user", "content": parts}

    return lines(folder / "work" / "chats" / f"session-2026-01-02T03-04-{SESSION[:8]}.jsonl", records())


def qwen_code(folder: Path, script: Script) -> Path:
    """A chat: messages of parts, servers' tools called through `tool_call`."""

    def asked(call: Call) -> Json:
        if not call.server:
            return {"functionCall": {"id": call.id, "name": call.tool, "args": call.arguments}}
        inner: Json = {"name": call.name, "arguments": call.arguments}
        return {"functionCall": {"id": call.id, "name": "tool_call", "args": inner}}

    def records() -> Iterator[Record]:
        clock, number = Clock(), 0

        def record(kind: str, role: str, parts: list[Json], **more: Json) -> Record:
            nonlocal number
            number += 1
            head: Record = {"uuid": f"u{number}", "sessionId": SESSION, "timestamp": clock.iso(), "type": kind}
            return head | {"message": {"role": role, "parts": parts}} | more

        for said, turns in script.rounds:
            yield record("user", "user", [{"text": said}], provenance="real_user")
            for turn in turns:
                said_so: list[Json] = [{"text": turn.text}] if turn.text else []
                thought: Json = {"text": "hm", "thought": True}
                parts = [thought, *said_so, *map(asked, turn.calls)]
                yield record("assistant", "model", parts, model=MODEL, usageMetadata={})
                for call in turn.calls:
                    told: Json = {"callId": call.id, "status": "error" if call.failed else "success"}
                    name = "tool_call" if call.server else call.tool
                    yield record("tool_result", "user", [_response(call, name)], toolCallResult=told)

    return lines(folder / "-work" / "chats" / f"{SESSION}.jsonl", records())


def opencode(folder: Path, script: Script) -> Path:
    """An exported session."""
    clock, messages = Clock(), list[Json]()

    def ms() -> int:
        return int(clock() * 1000)

    def tool(call: Call) -> Json:
        came: Record = {"error": call.output} if call.failed else {"output": call.output}
        state: Record = {"status": "error" if call.failed else "completed", "input": call.arguments}
        name = f"{call.server}_{call.tool}" if call.server else call.tool
        state |= {"time": {"start": ms(), "end": ms()}}
        return {"type": "tool", "callID": call.id, "tool": name, "state": state | came}

    def message(role: str, parts: list[Json]) -> None:
        info: Json = {"id": f"msg_{len(messages)}", "role": role, "modelID": MODEL, "time": {"created": ms()}}
        messages.append({"info": info, "parts": parts})

    for said, turns in script.rounds:
        message("user", [{"type": "text", "text": said}, {"type": "text", "text": "a file", "synthetic": True}])
        parts: list[Json] = []
        for turn in turns:
            parts += [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}]
            parts += [{"type": "text", "text": turn.text, "time": {"start": ms(), "end": ms()}}] if turn.text else []
            parts += [*map(tool, turn.calls), {"type": "step-finish"}]
        message("assistant", parts)
    return whole(folder / "export.json", {"info": {"id": f"ses_{SESSION}"}, "messages": messages})


def chat_messages(script: Script) -> list[Json]:
    """The history in the Chat Completions API's words."""
    messages: list[Json] = [{"role": "system", "content": "Be brief."}]
    for said, turns in script.rounds:
        messages.append({"role": "user", "content": said})
        for turn in turns:
            messages.append(_asked(turn))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": call.output} for call in turn.calls]
    return messages


def _asked(turn: Turn) -> Record:
    calls: list[Json] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in turn.calls
    ]
    message: Record = {"role": "assistant", "content": turn.text or None}
    return message | {"tool_calls": calls} if calls else message


def openai_messages(folder: Path, script: Script) -> Path:
    """A line of a fine-tuning file."""
    return lines(folder / "data.jsonl", iter([{"messages": chat_messages(script)}]))


def tau_bench(folder: Path, script: Script) -> Path:
    """A file of results with one run."""
    return whole(folder / "results.json", [{"task_id": 3, "trial": 0, "traj": chat_messages(script)}])


def swe_agent(folder: Path, script: Script) -> Path:
    """A trajectory of an agent that calls functions."""
    return whole(folder / "one.traj", {"trajectory": [], "history": chat_messages(script), "info": {}})


def otel(folder: Path, script: Script) -> Path:
    """An OTLP export: an LLM span for each turn, a tool span for each call."""
    clock, history, spans = Clock(), list[Json](), list[Json]()

    def span(name: str, start: float, end: float, failed: bool, attributes: dict[str, str]) -> None:
        told: list[Json] = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        times: Record = {"startTimeUnixNano": str(int(start * 1e9)), "endTimeUnixNano": str(int(end * 1e9))}
        ids: Record = {"traceId": "7f", "spanId": f"{len(spans):x}", "name": name, "attributes": told}
        spans.append(ids | times | {"status": {"code": 2 if failed else 1}})

    for said, turns in script.rounds:
        history.append({"role": "user", "parts": [{"type": "text", "content": said}]})
        for turn in turns:
            parts: list[Json] = [{"type": "text", "content": turn.text}] if turn.text else []
            parts += [{"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls]
            answer: Json = {"role": "assistant", "parts": parts, "finish_reason": "stop"}
            asked = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": SESSION, "gen_ai.request.model": MODEL}
            content = {"gen_ai.input.messages": json.dumps(history), "gen_ai.output.messages": json.dumps([answer])}
            span("chat", clock(), clock(), False, asked | content)
            history.append(answer)
            for call in turn.calls:
                ran = {"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": SESSION}
                ran |= {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}
                span("tool", clock(), clock(), call.failed, ran | {"gen_ai.tool.call.result": call.output})
                told: Json = {"type": "tool_call_response", "id": call.id, "response": call.output}
                history.append({"role": "tool", "parts": [told]})
    return whole(folder / "traces.json", {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


WRITERS: dict[str, tuple[Writer, Carries]] = {
    "claude-code": (claude_code, Carries()),
    "codex": (codex, Carries()),
    "gemini-cli": (gemini_cli, Carries()),
    "qwen-code": (qwen_code, Carries()),
    "opencode": (opencode, Carries(identity=False)),
    "openai-messages": (openai_messages, Carries(status=False)),
    "tau-bench": (tau_bench, Carries(status=False)),
    "swe-agent": (swe_agent, Carries(status=False)),
    "otel": (otel, Carries()),
}
