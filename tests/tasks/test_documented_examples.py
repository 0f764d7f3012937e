"""The examples in the docstrings of the tasks are true."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name", ["answer", "choice", "context", "feedback", "normalise", "numeric", "scoring"]
)
def test_the_examples_in_the_docstrings_hold(name: str):
    result = doctest.testmod(import_module(f"skillopt_exp.tasks.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
