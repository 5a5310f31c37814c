"""An evaluation that Inspect itself runs with planned replies: a team with a helper, tools that fail, thoughts, parts, limits, errors."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser, ContentImage, ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, accuracy, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import Tool, ToolError, tool

PIXEL = "data:image/png;base64," + "iVBORw0KGgo" * 60
LONG = "A long rule that stands in the attachments. " * 40


@tool
def door() -> Tool:
    async def execute(side: str) -> str:
        """Open a door.

        Args:
            side: Which one.
        """
        if side == "left":
            raise ToolError("the left door is locked")
        return f"the {side} door is open"

    return execute


@scorer(metrics=[accuracy()])
def grade() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value="C" if target.text in state.output.completion else "I", answer=state.output.completion, explanation="looked")

    return score


@scorer(metrics={"*": [mean()]})
def aspects() -> Any:
    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        return Score(value={"polite": 0.5, "turns": len(state.messages)})

    return score


@solver
def breaks_on(word: str) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if word in state.input_text:
            raise ValueError("the kitchen is on fire")
        return state

    return solve


def team_log(folder: Path, log_format: str = "eval") -> EvalLog:
    """Two epochs of a task in which an agent asks a helper, who opens doors."""
    replies = [
        _calls("helper", {"input": "Which door?"}),
        _calls("door", {"side": "left"}),
        _calls("door", {"side": "right"}),
        _calls("submit", {"answer": "The right one."}),
        _says("So the right door it is.", "I trust the helper."),
        _calls("submit", {"answer": "right"}),
    ]
    model = get_model("mockllm/model", custom_outputs=replies * 2)
    helper = react(name="helper", description="Tries doors.", prompt="You try doors.", tools=[door()], model=model)
    task = Task(
        dataset=[
            Sample(input=[ChatMessageUser(content=[ContentText(text=LONG), ContentImage(image=PIXEL)])], target="right", id="doors/1")
        ],
        solver=react(name="leader", prompt="You lead.", tools=[as_tool(helper)], model=model),
        scorer=[grade(), aspects()],
        name="doors",
        epochs=2,
    )
    return _run(task, model, folder, log_format)


def broken_log(folder: Path) -> EvalLog:
    """One sample fails, one stops at a limit, one is well."""
    model = get_model("mockllm/model", custom_outputs=[_says("yes") for _ in range(6)])
    task = Task(
        dataset=[Sample(input="fire", target="yes", id=1), Sample(input="calm", target="yes", id=2)],
        solver=[breaks_on("fire"), generate(), generate()],
        scorer=grade(),
        name="kitchen",
        fail_on_error=False,
        message_limit=3,
    )
    return _run(task, model, folder, "eval")


def _run(task: Task, model: Any, folder: Path, log_format: str) -> EvalLog:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Inspect's own
        (log,) = run_eval(task, model=model, log_dir=str(folder), log_format=log_format, display="none", max_samples=1)  # type: ignore[arg-type]
    return log


def _calls(tool_name: str, arguments: dict[str, Any]) -> ModelOutput:
    return _used(ModelOutput.for_tool_call("mock/m", tool_name, arguments))


def _says(text: str, thought: str | None = None) -> ModelOutput:
    output = ModelOutput.from_content("mock/m", text)
    if thought is not None:
        output.choices[0].message.content = [ContentReasoning(reasoning=thought), ContentText(text=text)]
    return _used(output)


def _used(output: ModelOutput) -> ModelOutput:
    """With its usage: where there is none, Inspect would ask the network how to count tokens."""
    output.usage = ModelUsage(input_tokens=100, output_tokens=7, total_tokens=110, input_tokens_cache_read=3, reasoning_tokens=2)
    return output
