from collections.abc import Iterator

import pytest
from doctor.obedient import Obedient


@pytest.fixture
def obedient() -> Iterator[Obedient]:
    served = Obedient()
    yield served
    served.close()
