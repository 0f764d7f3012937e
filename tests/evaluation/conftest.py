from collections.abc import Iterator

import pytest
from evaluation.benches import obeys
from llm.misbehaving import MisbehavingServer


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    """A model that says the colour that it is told to say."""
    server = MisbehavingServer()
    server.decide = obeys
    yield server
    server.close()
