import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillopt_exp.llm.json_fidelity import is_faithful
from skillopt_exp.llm.json_reply import MAX_REPAIRED, Unparsable, parse
from skillopt_exp.llm.json_spans import MAX_DEPTH
from skillopt_exp.records import ParsePath

FENCED_WITH_TRAILING_COMMAS = """Here is my patch.
```json
{"reasoning": "units were lost", "edits": [
  {"op": "append", "content": "- Keep {unit} as written.\\n```bash\\necho ok\\n```",},
],}
```
Tell me if you need more.
"""


def edit(content: str) -> dict[str, Any]:
    return {"edits": [{"op": "append", "content": content}]}


def test_a_fence_inside_of_a_fence_and_trailing_commas_are_repaired() -> None:
    parsed = parse(FENCED_WITH_TRAILING_COMMAS)
    assert parsed.path is ParsePath.repaired
    assert parsed.value == {
        "reasoning": "units were lost",
        **edit("- Keep {unit} as written.\n```bash\necho ok\n```"),
    }


def test_a_draft_inside_of_reasoning_does_not_count() -> None:
    answer = json.dumps(edit("- Answer with the year only."))
    parsed = parse(f'<think>perhaps {{"edits": []}}</think>{answer}')
    assert (parsed.value, parsed.path) == (edit("- Answer with the year only."), ParsePath.strict)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[{"op":"append","content":"A"},{"op":"append","content":"B"}]',
         [{"op": "append", "content": "A"}, {"op": "append", "content": "B"}]),
        ('[{"op":"append","content":"A"}]', [{"op": "append", "content": "A"}]),
        ('As [note] and [1] say: [{"op": "append"}].', [{"op": "append"}]),
        ("[2, 0]", [2, 0]),
        ("```json\n[2, 0]\n```", [2, 0]),
        ("[]", []),
        ("{}", {}),
        ('\ufeff{"a": 1}\n', {"a": 1}),
        ('I keep {unit} as it is. {"a": "{x"} That is all {really}.', {"a": "{x"}),
        ("{\"a\": \"it's\"}", {"a": "it's"}),
    ],
)  # fmt: skip
def test_objects_and_bare_lists_are_read_as_they_stand(text: str, value: Any) -> None:
    parsed = parse(text)
    assert (parsed.value, parsed.path) == (value, ParsePath.strict)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "line\nbreak\tand tab"}', {"a": "line\nbreak\tand tab"}),
        ('{"a": [1, 2.50,], "b": null,}', {"a": [1, 2.5], "b": None}),
        ("{'op': 'append', 'content': \"don't\", 'target': None, 'ok': True, 'no': False, 'e': ''}",
         {"op": "append", "content": "don't", "target": None, "ok": True, "no": False, "e": ""}),
        ('{"a": "x" "b": "y"}', {"a": "x", "b": "y"}),
        ('{"edits": [{op: "append", content: "x"}]}', edit("x")),
        ('{"a": "say "yes" loudly"}', {"a": 'say "yes" loudly'}),
        ('{"a": "Answer "Paris": not "paris"."}', {"a": 'Answer "Paris": not "paris".'}),
        ('{"a": "say \\"x\\" and \\\\d+",}', {"a": 'say "x" and \\d+'}),
        ('{"a": "\\d+ digits"}', {"a": "\\d+ digits"}),
        ('{"a": "caf\\u00e9 \u4e8c",}', {"a": "caf\u00e9 \u4e8c"}),
    ],
)  # fmt: skip
def test_what_is_nearly_json_is_repaired_and_says_so(text: str, value: Any) -> None:
    parsed = parse(f"Sure:\n{text}\n")
    assert (parsed.value, parsed.path) == (value, ParsePath.repaired)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("I have nothing to add.", "no JSON"),
        ("use `{op: delete}` here", "no JSON"),
        ('"a string"', "no JSON"),
        ("The best are [2] and [0].", "no JSON"),
        ('{"edits": []} or rather {"edits": [1]}', "more than one"),
        ('{"a": 1}\n{"b": "x"}', "more than one"),
        ('{"edits": [{"op": "append", "content": "half', "inside a string"),
        ('{"edits": [{"op": "append"}', "before all brackets"),
        ('{"edits": []} {"edits": [', "before all brackets"),
        ('```json\n{"edits": []}', "fence"),
        ('<think>I would say {"edits": []}', "reasoning"),
        ('{"edits": []}}', "do not match"),
        ('{"edits": [}]', "do not match"),
        ('{"a": [{"b": "say "}]}" and stop"}]}', "do not match"),
        ('{"a": [{"b": "say "}]}" and st', "do not match"),
        ('"reasoning": "{", "edits": []}', "begin inside"),
        ('{"edits": [1], "edits": [2]}', "twice"),
        ('{"score": NaN}', "NaN"),
        ('{"score": -Infinity,}', "Infinity"),
        ('{"score": 1e999}', "out of range"),
        ('{"a": "\\ud83d"}', "surrogate"),
        ('{"a": 1, // a comment\n "b": 2}', "broken"),
        ('{"a": ' * 30 + "1" + "}" * 30, "nested"),
    ],
)
def test_what_cannot_be_trusted_is_refused_with_a_reason(text: str, words: str) -> None:
    with pytest.raises(Unparsable, match=words):
        parse(text)


def test_depth_is_allowed_up_to_the_limit() -> None:
    def nested(depth: int) -> str:
        return '{"a": ' * depth + "1" + "}" * depth

    assert parse(nested(MAX_DEPTH)).path is ParsePath.strict
    with pytest.raises(Unparsable):
        parse(nested(MAX_DEPTH + 1))


def test_a_span_over_the_size_limit_is_read_strictly_or_not_at_all() -> None:
    text = "x" * MAX_REPAIRED
    assert parse(f'Here: {{"a": "{text}"}}').path is ParsePath.strict
    with pytest.raises(Unparsable):
        parse(f'Here: {{"a": "{text}",}}')


UNITS = [
    "{",
    "[",
    '"',
    "'",
    "}",
    "]",
    "\\",
    "(",
    '{"',
    '[{"',
    '{"a":[',
    '{"a":1},',
    '{"a":"b",',
    "[1,",
    "{b:c},",
    ":",
    "/",
]
UNITS += ["<think>", "</think>", "```", '```json\n{"a":"']


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("frame", ["{}", '{{"a": "{}"}}', '{{"a": b {}, "c": 1}}'])
def test_a_hostile_megabyte_comes_to_an_end(unit: str, frame: str) -> None:
    """Quadratic time would be minutes here, which nobody would wait for."""
    for size in (MAX_REPAIRED - 100, 1_000_000):
        with suppress(Unparsable):
            parse(frame.format(unit * (size // len(unit))))


TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
HARD_TEXT = st.text(st.sampled_from("ab {}[]\"'\\,:\n`<>/"), max_size=20)
EDIT = st.fixed_dictionaries(
    {"op": st.sampled_from(["append", "delete", "replace"]), "content": TEXT | HARD_TEXT | st.none()},
    optional={"target": TEXT | HARD_TEXT, "support_count": st.integers(0, 9)},
)
REPLY = st.fixed_dictionaries({"reasoning": TEXT | HARD_TEXT, "edits": st.lists(EDIT, max_size=3)})
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{}[]\"'`<"), max_size=40)


@given(REPLY, PROSE, PROSE, st.booleans())
def test_json_in_prose_comes_back_as_it_was(reply: Any, before: str, after: str, fenced: bool) -> None:
    text = json.dumps(reply, ensure_ascii=False)
    framed = f"```json\n{text}\n```" if fenced else text
    parsed = parse(f"{before} {framed} {after}")
    assert (parsed.value, parsed.path) == (reply, ParsePath.strict)


@given(REPLY, st.data())
@example({"reasoning": '"}]}', "edits": [{"op": "delete", "content": '"}]}'}]}, None)
def test_a_cut_reply_never_yields_anything(reply: Any, data: Any) -> None:
    text = "Patch: " + json.dumps(reply)
    cuts = range(len(text)) if data is None else [data.draw(st.integers(0, len(text) - 1))]
    for cut in cuts:
        with pytest.raises(Unparsable):
            parse(text[:cut])


def sloppy(reply: Any) -> str:
    """Invalid in ways that models have: trailing commas, raw line breaks, Python's words."""
    text = json.dumps(reply, ensure_ascii=False, indent=1)
    return text.replace("\n}", ",\n}").replace("null", "None")


@given(st.fixed_dictionaries({"reasoning": TEXT, "edits": st.lists(EDIT, min_size=1, max_size=3)}), st.data())
def test_a_cut_sloppy_reply_never_yields_anything(reply: Any, data: Any) -> None:
    text = sloppy(reply)
    with pytest.raises(Unparsable):
        parse(text[: data.draw(st.integers(0, len(text) - 1))])


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for child in value.values() for text in texts(child)]
    if isinstance(value, list):
        return [text for child in value for text in texts(child)]
    return [value] if isinstance(value, str) else []


@given(REPLY, st.data())
def test_damage_anywhere_never_shortens_a_text_in_silence(reply: Any, data: Any) -> None:
    whole = json.dumps(reply, ensure_ascii=False)
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.sampled_from(['"', "'", "\\", ",", "", "\n", "x"]))
    damaged = whole[:at] + damage + whole[at + (damage == "") :]
    try:
        parsed = parse(damaged)
    except Unparsable:
        return
    if parsed.path is ParsePath.repaired:
        kept = sum(len(text) for text in texts(parsed.value))
        assert kept >= sum(len(text) for text in texts(reply)) - 1


@given(st.text(max_size=60) | HARD_TEXT)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse(text)
    except Unparsable:
        return
    assert isinstance(parsed.value, dict | list)


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ({"a": "say "}, '{"a": "say "yes" loudly"}'),
        ({"a": "x", "b": "y"}, '{"a": "x", dropped, "b": "y"}'),
        ({"a": 'tall 5" nail"'}, '{"a": "tall 5" nail"}'),
        ({"a": "quoted"}, '{"a": ""quoted"}'),
        ({"a": "x"}, '{"a": "x", "b": 1}'),
        ({"a": 1}, '{"a": 12}'),
        ({"a": True}, '{"a": 1}'),
        ({"a": "invented"}, '{"a": ""}'),
        ({"b": 1, "a": 2}, '{"a": 2, "b": 1}'),
    ],
)
def test_a_value_that_says_less_or_more_than_its_source_is_unfaithful(value: Any, source: str) -> None:
    assert not is_faithful(value, source)


WORDS = st.text(st.sampled_from("ab\u00e9 \\\n{}[],:"), max_size=12).map(lambda middle: f"a{middle}z")


@given(st.lists(st.dictionaries(WORDS, WORDS | st.none() | st.booleans() | st.integers() | st.just(""))))
def test_what_json_itself_reads_is_faithful(value: Any) -> None:
    assert is_faithful(value, json.dumps(value))
    assert is_faithful(value, json.dumps(value, ensure_ascii=False, indent=2))
