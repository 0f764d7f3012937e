"""One evaluation from the claim of its folder to its last file: what the verbs have in common."""

from pathlib import Path

from skillopt_exp.evaluation.again import says_how_to_go_on
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Evaluation, Question, evaluate
from skillopt_exp.evaluation.folder import claimed, write_results
from skillopt_exp.evaluation.scoring import Progress
from skillopt_exp.evaluation.tracked import tracking_for
from skillopt_exp.tracking.session import TrackedRun


def conduct(
    question: Question, bench: Bench, folder: Path, progress: Progress
) -> tuple[Evaluation, TrackedRun | None]:
    """Evaluate, write the results to ``folder``, and log them where the bench's configuration says.

    Raises:
        UsageError: the folder or the tracking store cannot be used; nothing was paid for.
        SkillOptError: see ``evaluate``.
    """
    tracking = tracking_for(bench)
    with claimed(folder):
        evaluation = evaluate(question, bench, progress)
        with says_how_to_go_on():
            write_results(folder, evaluation)
    return evaluation, None if tracking is None else tracking.keep(evaluation, folder)
