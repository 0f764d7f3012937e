import json
import re
import threading
from pathlib import Path

import pytest
from evaluation.benches import BLUE, RED, asks, colours, silent, simulated
from llm.misbehaving import MisbehavingServer, refuses
from running import all_files

from skillopt_exp.errors import ProviderError, UsageError
from skillopt_exp.evaluation.conduct import conduct
from skillopt_exp.evaluation.evaluate import Question
from skillopt_exp.evaluation.folder import EvaluationSummary, choose_folder, claimed
from skillopt_exp.evaluation.source import NO_SKILL
from skillopt_exp.runs.codec import from_json
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import read_rollouts


def test_an_evaluation_leaves_its_files(tmp_path: Path, server: MisbehavingServer) -> None:
    question = Question("compare", {"a": RED, "b": BLUE, "control": NO_SKILL}, ("b", "a"))
    evaluation, tracked = conduct(question, colours(tmp_path, server), tmp_path / "out", silent)
    assert tracked is None
    left = all_files(tmp_path / "out")
    named = {"a.jsonl", "b.jsonl", "control.jsonl", "items.jsonl", "summary.json", "config.yaml"}
    assert set(left) == named | {"split_manifest.json"}
    assert read_rollouts(tmp_path / "out" / "a.jsonl") == evaluation.scored["a"].attempts
    summary = from_json(EvaluationSummary, left["summary.json"].decode(), "summary.json")
    assert summary.skills["a"].standing == evaluation.standings["a"]
    assert summary.skills["b"].usage.calls == 20
    assert summary.pair is not None
    assert (summary.pair.first, summary.pair.second) == ("b", "a")
    assert (summary.pair.num_won, summary.pair.num_lost, summary.num_items) == (10, 10, 20)
    assert summary.pair.hard == 0.0
    assert summary.num_items == 20
    rows = [json.loads(line) for line in left["items.jsonl"].splitlines()]
    assert rows[0] == {
        "id": "ball2",
        "outcome": "lost",
        "first_hard": 0.0,
        "second_hard": 1.0,
        "first_soft": 0.0,
        "second_soft": 1.0,
    }
    assert [row["outcome"] for row in rows].count("won") == 10


def test_a_summary_tells_which_items_were_scored(tmp_path: Path) -> None:
    digests = set()
    for number, override in enumerate(("dataset.limit=80", "evaluation.test_limit=5", "dataset.limit=70")):
        folder = tmp_path / str(number)
        conduct(asks(RED), simulated(tmp_path, override), folder, silent)
        digests.add(json.loads((folder / "summary.json").read_text(encoding="utf-8"))["items_sha256"])
    assert len(digests) == 3


def test_what_comes_to_nothing_leaves_nothing(tmp_path: Path, server: MisbehavingServer) -> None:
    server.decide = lambda asked: refuses(402, "no balance")
    bench = colours(tmp_path, server, "cache.mode=none")
    with pytest.raises(ProviderError):
        conduct(asks(RED), bench, tmp_path / "outputs" / "eval" / "qa" / "x", silent)
    assert [path.name for path in tmp_path.iterdir()] == ["balls.jsonl"]


def test_a_folder_that_is_there_is_refused_before_anything_is_asked(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        conduct(asks(RED), colours(tmp_path, server), tmp_path / "out", silent)
    assert server.asked == []
    with pytest.raises(UsageError, match="out=out is there already"):
        choose_folder("out", verb="eval", dataset="demo", base=tmp_path)


@pytest.mark.parametrize("given", ["r", "r/eval", "r/deep/er", "beside/../r/eval"])
def test_a_run_s_folder_is_never_written_to(given: str, tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "r", prompts="p")
    with pytest.raises(UsageError, match=r"lies in the run's folder"):
        choose_folder(given, verb="eval", dataset="demo", base=tmp_path)


def test_a_link_into_a_run_s_folder_is_seen_through(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "r", prompts="p")
    (tmp_path / "link").symlink_to(tmp_path / "r", target_is_directory=True)
    with pytest.raises(UsageError, match=r"lies in the run's folder"):
        choose_folder("link/eval", verb="eval", dataset="demo", base=tmp_path)


def test_a_folder_without_a_name_gets_one_of_its_own(tmp_path: Path) -> None:
    names = {choose_folder(None, verb="eval", dataset="demo", base=tmp_path) for _ in range(50)}
    assert len(names) == 50
    pattern = r"outputs/eval/demo/\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d-[0-9a-f]{6}"
    assert all(re.fullmatch(pattern, name.relative_to(tmp_path).as_posix()) for name in names)
    assert choose_folder(None, verb="transfer", dataset=None, base=tmp_path).parent.name == "transfer"


def test_of_many_who_claim_one_folder_one_gets_it(tmp_path: Path) -> None:
    got, refused = [], []
    start, end = threading.Barrier(8), threading.Barrier(8)

    def claim(number: int) -> None:
        start.wait()
        try:
            with claimed(tmp_path / "a" / "out"):
                got.append(number)
                end.wait()
        except UsageError:
            refused.append(number)
            end.wait()

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 7)


def test_a_folder_that_cannot_be_made_is_an_error_of_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be made"), claimed(tmp_path / "file" / "out"):
        pytest.fail("nothing was claimed")
