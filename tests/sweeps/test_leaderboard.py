"""Who wins, and what the leaderboard says of those that do not."""

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.sweeps.folder import Job
from skillopt_exp.sweeps.leaderboard import HEAD, JobStatus, Row, ranked, to_csv, winner
from skillopt_exp.sweeps.plot import score_against_cost

rows = st.lists(
    st.builds(
        Row,
        job=st.builds(Job, st.integers(1, 9), st.text(), st.text("0123456789abcdef"), st.tuples(st.text())),
        status=st.sampled_from(JobStatus),
        val_hard=st.none() | st.floats(0, 1),
        test_hard=st.none() | st.floats(0, 1),
        cost_usd=st.none() | st.floats(0, 9),
        cause=st.text(),
    ),
    max_size=5,
)


def row(number: int, val: float | None, **others: object) -> Row:
    return Row(Job(number, f"seed={number}", f"k{number}", ()), JobStatus.finished, val, **others)  # type: ignore[arg-type]


@given(rows)
def test_the_winner_is_the_best_finished_job_on_val(jobs: list[Row]) -> None:
    best = winner(jobs)
    scored = [each for each in jobs if each.status is JobStatus.finished and each.val_hard is not None]
    assert (best is None) == (not scored)
    if best is not None:
        assert best.val_hard == max(each.val_hard or 0.0 for each in scored)
        assert ranked(jobs)[0] == best


def test_neither_test_nor_cost_decides_between_equal_jobs() -> None:
    first, second = row(1, 0.5, test_hard=0.1, cost_usd=9.0), row(2, 0.5, test_hard=0.9, cost_usd=0.0)
    assert winner([second, first]) == first


def test_a_score_of_zero_is_a_score() -> None:
    assert winner([row(1, None), row(2, 0.0)]) == row(2, 0.0)


@settings(max_examples=50)
@given(rows)
def test_the_table_holds_every_job_in_one_row(jobs: list[Row]) -> None:
    head, *lines = csv.reader(io.StringIO(to_csv(jobs)))
    assert tuple(head) == HEAD
    assert sorted(int(line[1]) for line in lines) == sorted(each.job.number for each in jobs)


def test_the_plot_shows_jobs_that_have_a_score_and_is_none_without() -> None:
    rows = [row(1, 0.5, training_calls=9), row(2, 0.0, training_cost_usd=0.5)]
    picture = score_against_cost(rows, rows[0])
    assert picture is not None
    assert picture.startswith(b"\x89PNG")
    assert score_against_cost([row(1, None)], None) is None
