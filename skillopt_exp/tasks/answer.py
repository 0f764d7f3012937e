"""Where the answer is in a reply."""

import re

_TAG = re.compile(r"<\s*(/?)\s*answer\s*>", re.IGNORECASE)


def read_answer(reply: str) -> str:
    """The answer that ``reply`` gives: the last ``<answer>...</answer>`` pair, else the last line.

    A pair with nothing inside is an empty answer. Without any pair, tags that stand alone are left
    out and the last line that has text counts: a model that forgot to close the tag did answer,
    while a reply that was cut off never gets here, as the client reports it as a fault.

    >>> read_answer("<answer>Bergen</answer> No: <answer> Oslo </answer>.")
    'Oslo'
    >>> read_answer("It is the capital.\\n<answer>Oslo\\n")
    'Oslo'
    """
    start: int | None = None
    inside: tuple[int, int] | None = None
    for tag in _TAG.finditer(reply):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            inside = (start, tag.start())
            start = None
    if inside is not None:
        return reply[slice(*inside)].strip()
    lines = (line.strip() for line in reversed(_TAG.sub("", reply).splitlines()))
    return next((line for line in lines if line), "")
