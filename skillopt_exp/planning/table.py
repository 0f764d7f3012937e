"""The plan as a person reads it: one table that fits 80 columns, and what it rests on in words."""

from collections.abc import Callable, Iterator, Mapping

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skillopt_exp.config.model import EndpointConfig, PriceConfig
from skillopt_exp.display import dollars
from skillopt_exp.llm.base import Stage
from skillopt_exp.planning import case
from skillopt_exp.planning.afford import FEW_STEPS, Afforded, Reserve
from skillopt_exp.planning.case import Guesses
from skillopt_exp.planning.course import ROLE_OF
from skillopt_exp.planning.plan import Plan
from skillopt_exp.planning.spending import Bounds, Spending
from skillopt_exp.records import Role

_PURPOSE = {
    Stage.rollout: "attempts at train items",
    Stage.screen: "candidates tried on train",
    Stage.selection: "skills scored on val",
    Stage.test: "skills scored at the end",
    Stage.reflect: "attempts read for edits",
    Stage.aggregate: "edits merged",
    Stage.select: "edits counted, ranked",
    Stage.rewrite: "skills written anew",
    Stage.compact: "texts cut",
    Stage.slow_update: "guidance written",
    Stage.meta_skill: "advice written",
}
_NAMES = max(map(len, Stage))

_UNKNOWN, _NO_LIMIT = "unknown", "no limit"


def print_plan(
    console: Console, plan: Plan, endpoints: Mapping[Role, EndpointConfig], guesses: Guesses
) -> None:
    """The table; what it assumes; what one call sets aside; what each cap affords."""
    console.print(_table(plan, endpoints))
    console.print()
    for note in (*_assumptions(plan, guesses), *_prices(plan, endpoints)):
        console.print(Padding(Text(f"{note}."), (0, 0, 0, 2)), highlight=False)
    if plan.afforded:
        console.print()
    for each in plan.afforded:
        if each.too_few:
            console.print(Text.assemble(("warning  ", "yellow"), _affords(each)), soft_wrap=True)
        else:
            console.print(Text(_affords(each)), soft_wrap=True)


def _table(plan: Plan, endpoints: Mapping[Role, EndpointConfig]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(Text("how often, how much"), no_wrap=True)
    for name in ("at least", "expected", "at most"):
        table.add_column(name, justify="right", no_wrap=True)
    measures: tuple[tuple[str, Callable[[Spending], Bounds], Callable[[Bounds], Iterator[str]]], ...] = (
        ("calls", lambda spending: spending.calls, _counts),
        ("input tokens", lambda spending: spending.input_tokens, _counts),
        ("output tokens", lambda spending: spending.output_tokens, _counts),
        ("cost in US dollars", lambda spending: spending.cost_usd, _costs),
    )
    for title, measure, shown in measures:
        table.add_row(Text(title, "bold"), *(Text(cell, "bold") for cell in shown(measure(plan.total))))
        for role in Role:
            table.add_row(f"  {role}")
            for stage, spending in plan.stages.items():
                if ROLE_OF[stage] is role and spending.calls.most:
                    table.add_row(f"    {stage:<{_NAMES}}  {_PURPOSE[stage]}", *shown(measure(spending)))
        table.add_section()
    table.add_row(Text("time", "bold"), *(Text(cell, "bold") for cell in _times(plan.seconds)))
    return table


def _counts(bounds: Bounds) -> Iterator[str]:
    for value in (bounds.least, bounds.expected, bounds.most):
        yield _NO_LIMIT if value is None else _count(value)


def _count(value: float) -> str:
    """Whole numbers, of which hundreds of millions are not told apart: they would not fit."""
    return f"{value:,.0f}" if value < 1e8 else f"{value / 1e6:,.0f} M"


def _costs(bounds: Bounds) -> Iterator[str]:
    for value in (bounds.least, bounds.expected, bounds.most):
        # Expected tokens always have a bound: only a price can leave their cost open.
        if bounds.expected is None:
            yield _UNKNOWN
        else:
            yield _NO_LIMIT if value is None else dollars(value)


def _times(bounds: Bounds) -> Iterator[str]:
    for value in (bounds.least, bounds.expected, bounds.most):
        assert value is not None
        yield _duration(value)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _assumptions(plan: Plan, guesses: Guesses) -> Iterator[str]:
    yield (
        f"Expected: {guesses.failure_rate:.0%} of the attempts fail; {plan.candidates}; text takes a token "
        "for 4 bytes; replies have "
        f"{guesses.target_reply_tokens:,} tokens (target) and {guesses.optimizer_reply_tokens:,} (optimizer)"
    )
    yield (
        "At least: the seed skill leaves the gate nothing to accept, and training ends before its first "
        "step; under gate=accept_all no reply holds an edit"
    )
    yield (
        "At most: every reply of the optimizer has to be asked for twice; text takes a token a byte; an edit "
        f"has {case.EDIT_BYTES} bytes; replies are as long as max_tokens allows"
    )
    yield (
        "Not counted: the client asks again, by itself, for what was cut off or left empty; usually none, "
        f"{plan.repeats:,.0f} calls if it happened to all. Counted, but free: answers that are stored already"
    )
    yield f"Time: {guesses.seconds_per_call:g} s a call, as many at once as max_concurrency allows"


def _prices(plan: Plan, endpoints: Mapping[Role, EndpointConfig]) -> Iterator[str]:
    for role, endpoint in endpoints.items():
        yield f"Price of {endpoint.name}: {_price(role, endpoint.price)}"
    for role, reserved in plan.reserves.items():
        yield f"One {role} call sets aside {_reserve(role, reserved)}"


def _price(role: Role, price: PriceConfig) -> str:
    if price.input is None or price.output is None:
        return f"unknown, which is not free. Set model.{role}.price.input and model.{role}.price.output"
    if price.input == price.output == 0:
        return "free, as configured"
    dated = "of an unknown day" if price.date is None else f"of {price.date}"
    busy = "; 'at most' is at busy hours, when it costs more" if price.peak_hours else ""
    return f"${price.input:g} in, ${price.output:g} out for a million tokens, {dated}{busy}"


def _reserve(role: Role, reserved: Reserve) -> str:
    if reserved.tokens is None:
        return (
            f"an unknown amount of a budget: model.{role}.max_tokens is null. With it null budget.usd is "
            "refused, and budget.tokens holds but for the length of a reply"
        )
    cost = "" if reserved.cost_usd is None else f" (${dollars(reserved.cost_usd)})"
    return f"about {reserved.tokens:,.0f} tokens{cost} of a budget until its answer is there"


def _affords(each: Afforded) -> str:
    cap = f"{each.key}={each.cap:g}" if isinstance(each.cap, float) else f"{each.key}={each.cap}"
    if each.steps is None:
        return f"{cap}: how many steps it affords is unknown, as a price is"
    if not each.covered:
        return f"{cap} does not even pay for the baseline and the test"
    text = f"{cap} affords {each.steps} of {each.of_steps} steps at the expected spending, and the test"
    return f"{text}; under {FEW_STEPS} steps little can be learned: raise it" if each.too_few else text
