"""What would follow a job: its answer is looked at as far as that of any call."""

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.result import OBSERVED_BYTES, ToolResult
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.speculation.types import Launch, Predicted
from tests.proxy.hub.test_cores_foreseen import WHOLE, foresight, told

JOB = Launch(job=1, session="s", candidate=Candidate(invocation=WHOLE, confidence=0.5, source="p", depth=1), scope="fs")


def test_what_follows_from_an_answer_is_one_step_further_and_less_sure() -> None:
    foresees, session, prophet = foresight()
    (predicted,) = told(foresees.beyond(session, JOB, ToolResult(body=b'{"a": 1}')))
    assert isinstance(predicted, Predicted)
    assert [(one.depth, one.confidence) for one in predicted.candidates] == [(2, 0.25)]
    call, output = prophet.seen
    assert isinstance(call, ToolCall)
    assert isinstance(output, ToolOutput)
    assert (call.invocation, output.output) == (WHOLE, {"a": 1})


def test_of_a_very_long_answer_the_beginning_is_looked_at() -> None:
    foresees, session, prophet = foresight()
    told(foresees.beyond(session, JOB, ToolResult(body=b'["' + b"x" * OBSERVED_BYTES + b'"]')))
    output = prophet.seen[-1]
    assert isinstance(output, ToolOutput)
    assert output.output == '["' + "x" * (OBSERVED_BYTES - 2)
