"""Templates: what of a user's own folder is taken, and what is refused before a run begins."""

from pathlib import Path

import pytest

from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import decide
from skillopt_exp.errors import UsageError
from skillopt_exp.prompts import BUILT_IN, Prompts, load
from skillopt_exp.records import Split

RANK = "Pick {{ budget }} of {{ edits | tojson }} for {{ skill }}. Answer in JSON: selected_indices."


def saved(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_template_of_ones_own_stands_in_for_the_one_of_its_name(tmp_path: Path) -> None:
    prompts = load(saved(tmp_path, "rank.md", RANK))
    shown = prompts.render("rank", budget=2, edits=[{"op": "delete"}], skill="- <b>")
    assert shown == 'Pick 2 of [{"op": "delete"}] for - <b>. Answer in JSON: selected_indices.'
    assert prompts.sources["reflect"] == BUILT_IN.sources["reflect"]


def test_the_digest_covers_every_template(tmp_path: Path) -> None:
    own = load(saved(tmp_path, "rank.md", RANK))
    assert own.digest != BUILT_IN.digest
    sources = BUILT_IN.sources
    digests = {Prompts({**sources, name: f"{text} "}).digest for name, text in sources.items()}
    assert len(digests | {BUILT_IN.digest}) == len(sources) + 1
    assert load(saved(tmp_path, "rank.md", sources["rank"])).digest == BUILT_IN.digest


@pytest.mark.parametrize("name", BUILT_IN.names)
def test_each_built_in_template_would_pass_as_a_users_own(name: str, tmp_path: Path) -> None:
    assert load(saved(tmp_path, f"{name}.md", BUILT_IN.sources[name])) == BUILT_IN


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rank.md", "JSON {{ skill }}", r"rank\.md lacks the variable 'edits'"),
        ("rank.md", f"{RANK} {{{{ score }}}}", r"rank\.md names the variable 'score', which nobody gives"),
        ("rank.md", f"{RANK} {{% if score %}}x{{% endif %}}", r"rank\.md names the variable 'score'"),
        ("rank.md", f"{RANK}\n{{% if edits %}}", r"rank\.md:2: "),
        ("rank.md", f"{RANK} {{{{ skill.length }}}}", r"rank\.md cannot be filled in: .*length"),
        ("rank.md", RANK.replace("JSON", "XML"), r"rank\.md does not mention JSON"),
        ("rank.md", f"{RANK} {{% include '_own' %}}", r"rank\.md: there is no part '_own' to include"),
        ("rank.md", f"{RANK} {{% include 'rank' %}}", r"rank\.md: there is no part 'rank' to include"),
        ("rank.md", f"{RANK} {{% include budget %}}", r"rank\.md: there is no part None to include"),
        ("rank.md", f"{RANK} {{% include '_evidence' %}}", r"names the variable 'advice', which nobody"),
        ("_evidence.md", "JSON", r"_evidence\.md is the template of nothing"),
        ("ranking.md", RANK, r"ranking\.md is the template of nothing; use the names .*rank\.md"),
    ],
)
def test_a_template_that_cannot_work_is_refused_by_file_and_variable(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        load(saved(tmp_path, name, text))


def test_a_template_of_ones_own_may_include_the_parts_of_the_built_in_one(tmp_path: Path) -> None:
    own = "Read these and answer in JSON.\n{% include '_evidence' %}"
    shown = load(saved(tmp_path, "reflect.md", own)).render(
        "reflect", kind="failure", skill="- a", memory=[], advice="", budget=1, trajectories=[{"task": "x"}]
    )
    assert shown.startswith("Read these and answer in JSON.\nEverything between")
    assert '{"task": "x"}' in shown


def test_a_folder_that_is_not_there_and_a_file_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"prompts_dir=.*there is no such folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "rank.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path)


def test_a_relative_folder_starts_from_where_the_command_was_given(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    saved(tmp_path / "mine", "rank.md", RANK)
    config = compose(["model=simulated", "optimizer.prompts_dir=mine"])
    decision = decide(config, dict.fromkeys(Split, 100), base=tmp_path)
    assert decision.settings.prompts.sources["rank"] == RANK
