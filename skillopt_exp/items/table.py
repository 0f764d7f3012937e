"""``items.csv``: one row an item, its score at the seed and after every accepted change."""

import csv
import io

from skillopt_exp.items.ledger import Ledger


def as_csv(ledger: Ledger) -> str:
    """The whole table with a header. A score that is not there is empty; changes are separated by blanks."""
    text = io.StringIO()
    # Texts in quotes: an id may hold a line end of any kind, or be a number that is none.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    accepted = ledger.accepted
    writer.writerow(["id", "group", *(column.name for column in accepted), "fixed_by", "broken_by"])
    for row in ledger.rows:
        scores = (column.scores.get(row.item.id) for column in accepted)
        writer.writerow(
            [
                row.item.id,
                row.item.group,
                *(None if score is None else int(score) if score.is_integer() else score for score in scores),
                " ".join(row.fixed_by),
                " ".join(row.broken_by),
            ]
        )
    return text.getvalue()
