"""What the tiny model knows by heart: one tool, and who asks for it how."""

import json
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

TOOLS: list[Message] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


def asks(text: str) -> Message:
    """The user."""
    return {"role": "user", "content": text}


def says(text: str) -> Message:
    """The assistant, in words."""
    return {"role": "assistant", "content": text}


def calls(*arguments: dict[str, str], text: str | None = None) -> Message:
    """The assistant, asking for the weather, once or several times in a turn."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": "get_weather", "arguments": one}}
        for number, one in enumerate(arguments)
    ]
    return {"role": "assistant", "content": text, "tool_calls": made}


def tells(output: str, number: int = 0) -> Message:
    """The tool."""
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": output}


OSLO, ROME, LIMA = "12 degrees, rain", "25 degrees, sun", "19 degrees, fog"

DIALOGUES: list[list[Message]] = [
    [asks("Hello!"), says("Hello. Which city do you want to know about?")],
    [asks("How is Oslo?"), calls({"city": "Oslo"}), tells(OSLO), says("It rains in Oslo, at 12 degrees.")],
    [asks("How is Rome?"), calls({"city": "Rome"}), tells(ROME), says("The sun shines in Rome, at 25 degrees.")],
    [
        asks("Oslo in Celsius, please"),
        calls({"unit": "C", "city": "Oslo"}, text="Let me look."),
        tells(OSLO),
        says("12 degrees Celsius."),
    ],
    [
        asks("Oslo, and then Rome"),
        calls({"city": "Oslo"}),
        tells(OSLO),
        calls({"city": "Rome"}),
        tells(ROME),
        says("Rain in Oslo, and sun in Rome."),
    ],
    [
        asks("Rome and Lima at once"),
        calls({"city": "Rome"}, {"city": "Lima"}),
        tells(ROME),
        tells(LIMA, 1),
        says("Sun in Rome, and fog in Lima."),
    ],
]
"""The fourth writes its arguments out of order; then come two turns with a call each, and one turn with two."""


def as_sent(messages: list[Message]) -> list[Message]:
    """Messages as a client sends them: arguments are texts."""
    sent: list[Message] = json.loads(json.dumps(messages))
    for message in sent:
        for call in message.get("tool_calls", []):
            arguments = call["function"]["arguments"]
            call["function"]["arguments"] = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return sent
