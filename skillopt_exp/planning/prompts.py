"""How long the real prompts are: the task and the stages are run with a model that only measures."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps

from skillopt_exp.errors import ReplyFault
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.conversation import as_sent, texts_of, tools_as_sent
from skillopt_exp.loop import Settings
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import (
    Advice,
    Edit,
    EditResult,
    Fault,
    Item,
    Message,
    Outcome,
    Pair,
    Patch,
    Remembered,
    Rollout,
    Score,
    Skill,
    Source,
    Tool,
)
from skillopt_exp.stages.aggregate import aggregate
from skillopt_exp.stages.compact import compact
from skillopt_exp.stages.looking_back import Hindsight, write_guidance, write_meta_skill
from skillopt_exp.stages.notes import take_notes
from skillopt_exp.stages.propose import propose
from skillopt_exp.stages.rate import rate
from skillopt_exp.stages.reflect import MOST_NOTES, Brief, Minibatch, reflect
from skillopt_exp.stages.select import select
from skillopt_exp.tasks.base import Task

_LETTER = "x"
"""What stands for a text nobody wrote yet: one byte in UTF-8 and in JSON."""


@dataclass(frozen=True, slots=True)
class Size:
    """A conversation's text in bytes of UTF-8, and its messages."""

    bytes: float = 0
    messages: float = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.bytes + other.bytes, self.messages + other.messages)

    def times(self, count: float) -> "Size":
        return Size(self.bytes * count, self.messages * count)

    def longer(self, num_bytes: float) -> "Size":
        return Size(self.bytes + num_bytes, self.messages)


@dataclass(frozen=True, slots=True)
class Question:
    """One item's prompt without a skill, and with one (whose own text is not counted)."""

    bare: Size
    framed: Size

    def under(self, skill_bytes: float) -> Size:
        """The prompt under a skill of this many bytes."""
        return self.bare if skill_bytes <= 0 else self.framed.longer(skill_bytes)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the optimizer's prompts of one step are filled with.

    ``skill`` is the skill's length, ``content`` that of what an edit writes and ``text`` that of any other
    text, in bytes; ``edits`` are those of one patch; ``memory`` are the earlier steps of the epoch, with
    ``remembered`` edits each; ``advice`` is the length of the meta skill. ``budget`` None is no limit.
    """

    skill: int
    content: int
    text: int
    patches: int
    edits: int
    memory: int
    remembered: int
    advice: int
    budget: int | None


class MeasuringChat:
    """A model that answers nothing and keeps the size of what it was asked."""

    def __init__(self) -> None:
        self.size = Size()

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        stage: Stage,
        attempt: int = 1,
        json: bool = False,
        tools: Sequence[Tool] = (),
    ) -> Message:
        """
        Raises:
            ReplyFault: always; every caller has to go on from there, and none scores an empty answer.
        """
        texts = (*texts_of(as_sent(messages)), *map(dumps, tools_as_sent(tools)))
        self.size += Size(sum(len(text.encode()) for text in texts), len(messages))
        raise ReplyFault(Fault.empty, "this model only measures")


async def questions(task: Task, items: Iterable[Item]) -> dict[str, Question]:
    """The prompt of each item, by id. Of a conversation of several turns, its first request."""
    return {
        item.id: Question(
            bare=await _asked(task, item, ""),
            framed=(await _asked(task, item, _LETTER)).longer(-len(_LETTER)),
        )
        for item in items
    }


async def _asked(task: Task, item: Item, skill: str) -> Size:
    chat = MeasuringChat()

    async def ask(messages: Sequence[Message], /, *, tools: Sequence[Tool] = ()) -> Message:
        return await chat.ask(messages, stage=Stage.rollout, tools=tools)

    with suppress(ReplyFault):  # most tasks score it themselves
        await task.rollout(item, skill, ask, attempt=1)
    return chat.size


async def trajectories(items: Sequence[Item], settings: Settings) -> Size:
    """What all ``items`` add to reflect prompts when each is shown once, but for what a model wrote."""
    brief = Brief(settings.mode, Skill(), (), 1, settings.trajectory_chars)
    empty = await _reflected(brief, (), settings)
    sizes = [await _reflected(brief, (_unanswered(item),), settings) for item in items]
    return Size(sum(size.bytes - empty.bytes for size in sizes), 0)


async def pairs(items: Sequence[Item], settings: Settings) -> Size:
    """The same for prompts at the end of an epoch, where each item is shown with two attempts."""
    empty = await _looked_back(
        write_guidance, Hindsight(settings.mode, Skill(), (), "", (), settings.trajectory_chars), settings
    )
    total = 0.0
    for item in items:
        pair = Pair(_unanswered(item), _unanswered(item))
        hindsight = Hindsight(settings.mode, Skill(), (), "", (pair,), settings.trajectory_chars)
        total += (await _looked_back(write_guidance, hindsight, settings)).bytes - empty.bytes
    return Size(total, 0)


async def reflect_prompt(shown: Shown, settings: Settings) -> Size:
    """A reflect prompt without trajectories."""
    brief = Brief(
        settings.mode,
        _skill(shown),
        _memory(shown),
        shown.budget,
        settings.trajectory_chars,
        _LETTER * shown.advice,
        MOST_NOTES if settings.skill_aware else None,
    )
    return await _reflected(brief, (), settings)


async def propose_prompt(skill_bytes: int, settings: Settings) -> Size:
    """The prompt that asks for a whole new skill, without trajectories."""
    chat = MeasuringChat()
    skill = Skill(body=_LETTER * skill_bytes)
    await propose(chat, skill, (), trajectory_chars=settings.trajectory_chars, prompts=settings.prompts)
    return chat.size


async def guidance_prompt(shown: Shown, settings: Settings) -> Size:
    """The prompt of the slow update, without pairs."""
    return await _looked_back(write_guidance, _hindsight(shown, settings), settings)


async def meta_skill_prompt(shown: Shown, settings: Settings) -> Size:
    """The prompt of the meta skill, without pairs."""
    return await _looked_back(write_meta_skill, _hindsight(shown, settings), settings)


async def merge_prompt(
    shown: Shown, settings: Settings, *, patches: int | None = None, edits: int | None = None
) -> Size:
    """The prompt that merges all patches of a step, or ``patches`` (at least 2) of ``edits`` each."""
    chat = MeasuringChat()
    patch = Patch(_edits(shown, shown.edits if edits is None else edits), reasoning=_LETTER * shown.text)
    group = [patch] * (shown.patches if patches is None else patches)
    await aggregate(chat, _skill(shown), Source.failure, group, mode=settings.mode, prompts=settings.prompts)
    return chat.size


async def rate_prompt(shown: Shown, settings: Settings) -> Size:
    """The prompt that asks how many of all patches' edits to apply."""
    chat = MeasuringChat()
    await rate(chat, _skill(shown), _pool(shown), scheduled=1, mode=settings.mode, prompts=settings.prompts)
    return chat.size


async def rank_prompt(shown: Shown, settings: Settings) -> Size:
    """The prompt that ranks the edits of all patches."""
    chat = MeasuringChat()
    pool = _pool(shown)
    await select(chat, _skill(shown), pool, len(pool.edits) - 1, mode=settings.mode, prompts=settings.prompts)
    return chat.size


async def rewrite_prompt(shown: Shown, settings: Settings, suggestions: int) -> Size:
    """The prompt that has the skill rewritten as ``suggestions`` ask for, at least one."""
    chat = MeasuringChat()
    await settings.mode.apply(chat, _skill(shown), _edits(shown, max(1, suggestions)), settings.prompts)
    return chat.size


async def compact_prompt(skill_bytes: int, max_tokens: int, settings: Settings) -> Size:
    """The prompt that sends a skill of this length back, to be said in less."""
    chat = MeasuringChat()
    await compact(chat, Skill(body=_LETTER * skill_bytes), max_tokens, settings.prompts)
    return chat.size


async def notes_prompt(shown: Shown, settings: Settings, notes: int) -> Size:
    """The prompt that has ``notes`` notes (at least 2) said in fewer."""
    chat = MeasuringChat()
    so_far = "\n".join([f"- {_LETTER * (shown.text + 1)}"] * (max(2, notes) - 1))
    skill = Skill(body=_LETTER * shown.skill, appendix=so_far)
    # Another note than those that stand there is what makes them too many.
    await take_notes(chat, skill, [f"new{_LETTER * shown.text}"], most=1, prompts=settings.prompts)
    return chat.size


async def _reflected(brief: Brief, rollouts: tuple[Rollout, ...], settings: Settings) -> Size:
    chat = MeasuringChat()
    await reflect(chat, brief, Minibatch(Source.failure, rollouts), settings.prompts)
    return chat.size


async def _looked_back(
    write: Callable[[Chat, Hindsight, Prompts], Awaitable[Advice]], hindsight: Hindsight, settings: Settings
) -> Size:
    chat = MeasuringChat()
    await write(chat, hindsight, settings.prompts)
    return chat.size


def _hindsight(shown: Shown, settings: Settings) -> Hindsight:
    return Hindsight(settings.mode, _skill(shown), _memory(shown), _LETTER * shown.advice, (), 1)


def _pool(shown: Shown) -> Patch:
    """At least two edits, so that there is something to choose."""
    return Patch(_edits(shown, max(2, shown.patches * shown.edits)))


def _memory(shown: Shown) -> tuple[Remembered, ...]:
    return tuple(_remembered(number, shown) for number in range(1, shown.memory + 1))


def _unanswered(item: Item) -> Rollout:
    return Rollout(item, 1, (Message("assistant", ""),), "", Score(0.0, 0.0))


def _skill(shown: Shown) -> Skill:
    return Skill(body=_LETTER * shown.skill)


def _remembered(number: int, shown: Shown) -> Remembered:
    summaries = shown.patches if shown.edits else 0
    return Remembered(
        step=number,
        failure_summaries=(_LETTER * shown.text,) * summaries,
        rejected_edits=tuple(map(EditResult, _edits(shown, shown.remembered))),
        outcome=Outcome.rejected,
    )


def _edits(shown: Shown, count: int) -> tuple[Edit, ...]:
    """Edits of the longest kind: with an anchor and a text."""
    return (Edit("insert_after", _LETTER * shown.text, _LETTER * shown.content),) * count
