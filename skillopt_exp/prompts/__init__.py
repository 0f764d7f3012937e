"""The optimizer's prompts: one Markdown template a file, rendered by Jinja.

A variable that a template names and nobody gives is an error, never an empty string.
"""

import hashlib
import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("skillopt_exp", "prompts"),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown for a model, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    # Jinja's own tojson escapes <, > and & for HTML, which a model would copy into its anchors.
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


def digest() -> str:
    """SHA-256 of all templates, 64 hex digits: runs with other prompts are other experiments."""
    environment = _environment()
    assert environment.loader is not None
    total = hashlib.sha256()
    for name in sorted(environment.list_templates(extensions=["md"])):
        source, _, _ = environment.loader.get_source(environment, name)
        total.update(json.dumps([name, source]).encode())
    return total.hexdigest()


def render(name: str, **variables: Any) -> str:
    """The prompt ``name`` (``reflect``, ``merge``, ``rank``) with its variables filled in."""
    return _environment().get_template(f"{name}.md").render(**variables)
