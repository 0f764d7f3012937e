"""The ready data sets in ``conf/dataset`` against their schema."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from skillopt_exp.config.dataset import QADatasetConfig, Scorer

FILES = sorted((Path(__file__).parents[2] / "conf" / "dataset").glob("*.yaml"))


def dataset(name: str) -> QADatasetConfig:
    chosen = OmegaConf.load(next(path for path in FILES if path.stem == name))
    assert chosen.pop("defaults") == ["base_qa", "_self_"]
    chosen.path = None
    config = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(QADatasetConfig), chosen))
    assert isinstance(config, QADatasetConfig)
    return config


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_ready_data_set_fits_the_schema_and_says_what_it_is(path):
    assert dataset(path.stem).name == path.stem
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_the_ready_data_sets_are_what_their_names_promise():
    assert dataset("searchqa").split == [2, 1, 7]
    assert dataset("searchqa").min_source_items == 5000
    assert (dataset("bbh").records, dataset("bbh").scorer) == ("examples", Scorer.choice)
    assert (dataset("gsm8k").gold_after, dataset("gsm8k").scorer) == ("####", Scorer.numeric)
    assert dataset("demo").task == "searchqa"
