"""Files as people have them, trained on by configuration alone."""

from pathlib import Path

import pytest
from running import history, run

from skillopt_exp.records import Evidence

SHARED = Path(__file__).parents[2] / "shared" / "data"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the real data files are not in {SHARED}")

BBH = ("date_understanding", "snarks", "tracking_shuffled_objects_three_objects")


@pytest.mark.parametrize("name", BBH)
def test_a_nested_multiple_choice_file_trains_by_overrides_alone(name: str, tmp_path: Path) -> None:
    summary = run(
        tmp_path,
        "dataset=qa",
        f"dataset.path={SHARED}/bbh/{name}.json",
        "dataset.fields.question=input",
        "dataset.fields.answers=target",
        "dataset.scorer=choice",
        "dataset.limit=null",
        "train.num_epochs=2",
    )
    assert summary.baseline_test_hard is not None
    assert 0.25 <= summary.baseline_test_hard <= 0.50
    assert summary.verdict == "clear gain"
    assert summary.total_rejects > 0


def test_grade_school_problems_train_on_the_number_after_the_mark(tmp_path: Path) -> None:
    summary = run(
        tmp_path,
        "dataset=qa",
        f"dataset.path={SHARED}/gsm8k/test.jsonl",
        "dataset.fields.answers=answer",
        "dataset.gold_after='####'",
        "dataset.scorer=numeric",
        "dataset.limit=400",
        "train.num_epochs=2",
    )
    assert summary.verdict == "clear gain"
    assert summary.test_hard is not None
    assert summary.test_hard > 0.7


def test_a_tiny_split_folder_trains_with_the_warnings_that_it_deserves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = run(
        tmp_path, "dataset=searchqa", f"dataset.split_dir={SHARED}/searchqa_sample", "dataset.limit=null"
    )
    assert summary.evidence is Evidence.underpowered
    assert summary.verdict == "no clear gain: too few test items to tell"
    assert len(history(tmp_path)) == 6
