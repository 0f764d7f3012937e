"""What calls are made for: so that a message about them fits what was running."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Activity:
    """``halts`` says that it ends for want of answers, ``again`` what to do to go on, ``command`` is what a
    higher cap is put behind."""

    halts: str
    again: str
    command: str


A_RUN = Activity(
    halts="the run pauses, and nothing was scored because of it",
    again="resume the run",
    command="resume the run with",
)
