"""A research agent of our own that asks its LLM and calls its tools by the conventions of Qwen DeepResearch.

The LLM is at a port of this machine and answers whole; calls and their results are text in tags, one call a
turn; a tool is an entry of `TOOL_MAP`, found by name when it is called. One agent works on several
questions at once, each in a thread.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pyjson5
from openai import OpenAI

Message = dict[str, str]

VISIT_S = 0.2
PAGES = tuple(f"https://pages.example/{number}" for number in range(1, 5))


class Search:
    name = "search"
    description = "Searches the web."
    parameters: ClassVar = {"type": "object", "properties": {"query": {"type": "array"}}}

    def call(self, params: Any, **kwargs: Any) -> str:
        assert params["params"] is params, "the agent hands the arguments on with a reference to themselves"
        return "\n=======\n".join(
            f"{len(PAGES)} results for {query}:\n" + "\n".join(PAGES) for query in params["query"]
        )


class Visit:
    name = "visit"
    description = "Reads pages towards a goal."
    parameters: ClassVar = {"type": "object", "properties": {"url": {"type": "array"}, "goal": {"type": "string"}}}

    def call(self, params: Any, **kwargs: Any) -> str:
        assert params["params"] is params
        time.sleep(VISIT_S)
        urls = [params["url"]] if isinstance(params["url"], str) else params["url"]
        return "\n=======\n".join(f"{url} says of {params['goal']!r}: nothing." for url in urls)


class PythonInterpreter:
    name = "PythonInterpreter"
    description = "Runs code."
    parameters: ClassVar = {"type": "object", "properties": {"code": {"type": "string"}}}

    def call(self, params: Any, files: Any = None, timeout: int = 50, **kwargs: Any) -> str:
        assert isinstance(params, str), "code comes as it is"
        return f"stdout:\n{len(params)}"


class ParseFile:
    name = "parse_file"
    description = "Reads files."
    parameters = ({"name": "files", "type": "array", "required": True},)

    async def call(self, params: Any, file_root_path: str) -> list[str]:
        await asyncio.sleep(0)
        return [f"{file_root_path}/{name}: empty" for name in params["files"]]


def tool_map() -> dict[str, Any]:
    """Fresh tools by name."""
    return {tool.name: tool for tool in (ParseFile(), Visit(), Search(), PythonInterpreter())}


class ResearchAgent:
    """The loop. It keeps nothing of a question: several threads are in `run` at once."""

    def __init__(self, tools: dict[str, Any]) -> None:
        self._tools = tools

    def run(self, question: str, planning_port: int) -> list[Message]:
        """Work on a question; gives the whole conversation."""
        messages = [{"role": "system", "content": "Think, then call one tool or answer."}]
        messages.append({"role": "user", "content": question})
        llm = OpenAI(api_key="EMPTY", base_url=f"http://127.0.0.1:{planning_port}/v1", timeout=60)
        while True:
            said = self._ask(llm, messages).partition("<tool_response>")[0].strip()
            messages.append({"role": "assistant", "content": said})
            if "<tool_call>" in said and "</tool_call>" in said:
                result = self._call(said.split("<tool_call>")[1].split("</tool_call>")[0])
                messages.append({"role": "user", "content": f"<tool_response>\n{result}\n</tool_response>"})
            if "<answer>" in said:
                llm.close()
                return messages

    def _ask(self, llm: OpenAI, messages: list[Message]) -> str:
        create: Callable[..., Any] = llm.chat.completions.create
        answer = create(
            model="research",
            messages=messages,
            stop=["\n<tool_response>", "<tool_response>"],
            temperature=0.6,
            top_p=0.95,
            logprobs=True,
            max_tokens=10_000,
            presence_penalty=1.1,
        )
        return str(answer.choices[0].message.content).strip()

    def _call(self, written: str) -> str:
        try:
            if "python" in written.lower():
                code = written.split("<code>")[1].split("</code>")[0].strip()
                return str(self._tools["PythonInterpreter"].call(code))
            call = pyjson5.loads(written)
            return self._run(call["name"], call["arguments"])
        except Exception:  # noqa: BLE001 - the LLM is told, whatever it is
            return "Error: that is no call."

    def _run(self, name: str, arguments: dict[str, Any]) -> str:
        if name not in self._tools:
            return f"Error: there is no tool {name}."
        arguments["params"] = arguments
        tool = self._tools[name]
        if name == "parse_file":
            return str(asyncio.run(tool.call({"files": arguments["files"]}, file_root_path="./files")))
        return str(tool.call(arguments))
