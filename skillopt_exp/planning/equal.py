"""How many attempts SkillOpt expects to make before the test, for others to be compared with it. Pure."""

from dataclasses import replace

from skillopt_exp.batching import cut
from skillopt_exp.loop import Settings
from skillopt_exp.planning.counts import end_most, expected, expected_share

FAILURE_RATE = 0.5
"""Share of attempts expected to fail, as ``plan`` expects it where nothing else is said."""


def expected_attempts(settings: Settings, *, num_train: int, num_val: int) -> int:
    """Attempts at train and val items, the seed skill's included, as ``plan`` counts them for SkillOpt."""
    epochs, end = settings.num_epochs, settings.epoch_end
    parts = [len(part) for part in cut(tuple(range(num_train)), settings.batch_size)]
    steps = [
        tuple(parts[start : start + settings.accumulation])
        for start in range(0, len(parts), settings.accumulation)
    ]
    each = {
        sizes: expected(sizes, settings, at_once=1, failure_rate=FAILURE_RATE).candidates
        for sizes in set(steps)
    }
    candidates = epochs * sum(each[sizes] for sizes in steps)
    looked_back = 0.0
    for epoch in range(2, epochs + 1):
        counts = end_most(end, last=epoch == epochs)
        looked_back += counts.attempts * min(end.samples, num_train)
        candidates += counts.candidates
    screened = candidates * num_train / len(steps) if settings.scoring.screened else 0
    # One after the other: the number must not follow from how many calls an endpoint takes at once.
    in_sequence = replace(settings, scoring=replace(settings.scoring, at_once=1))
    asked = 1 + candidates * expected_share(in_sequence, num_val)
    return round(epochs * num_train + looked_back + screened + asked * num_val)
