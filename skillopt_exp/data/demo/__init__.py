"""The bundled quiz: ``facts.toml`` is written by hand, ``items.jsonl`` is made from it by ``build``."""
