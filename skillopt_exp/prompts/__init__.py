"""The optimizer's prompts: one Markdown template a file, rendered by Jinja.

A variable that a template names and nobody gives is an error, never an empty string. A folder of the
user's own may stand in for any of the templates, by file name; it is checked whole before a run begins.
A file whose name begins with an underscore is a part that templates include, and none by itself.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import (
    DictLoader,
    Environment,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    meta,
)

from skillopt_exp.errors import UsageError
from skillopt_exp.reading import read_text, why

_PART = "_"
_OPTIONAL = frozenset({"advice", "budget", "kind", "lapses", "memory"})
"""What a template of the user's own may leave out; every other variable of the built-in one is needed."""

_SAMPLE: dict[str, Any] = {
    "advice": "Look at the feedback.",
    "budget": 2,
    "guidance": "- Be brief.",
    "notes": ["Mind the unit.", "Keep the unit."],
    "pairs": [{"change": "improved"}],
    "edits": [{"op": "append", "content": "- Be brief."}],
    "kind": "failure",
    "lapses": 3,
    "max_notes": 1,
    "max_tokens": 100,
    "memory": [{"step": 1, "outcome": "rejected", "failures": [], "rejected_edits": []}],
    "patches": [{"reasoning": "", "edits": []}],
    "skill": "- Be brief.",
    "suggestions": [{"type": "add_rule", "instruction": "Say: be brief."}],
    "tokens": 200,
    "trajectories": [{"task": "?", "reply": "!", "prediction": "!", "gold": ["."]}],
}
"""One value for every variable that any template has, to try a template on."""


@dataclass(frozen=True)
class Prompts:
    """The templates of a run: name (without ``.md``) to Jinja source."""

    sources: Mapping[str, str] = field(repr=False)
    _environment: Environment = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        environment = Environment(
            loader=DictLoader(dict(self.sources)),
            undefined=StrictUndefined,
            autoescape=False,  # Markdown for a model, not HTML
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
        )
        # Jinja's own tojson escapes <, > and & for HTML, which a model would copy into its anchors.
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        object.__setattr__(self, "_environment", environment)

    @property
    def digest(self) -> str:
        """SHA-256 of all templates, 64 hex digits: runs with other prompts are other experiments."""
        total = hashlib.sha256()
        for name in sorted(self.sources):
            total.update(json.dumps([f"{name}.md", self.sources[name]]).encode())
        return total.hexdigest()

    def render(self, name: str, **variables: Any) -> str:
        """The prompt ``name`` with its variables filled in."""
        return self._environment.get_template(name).render(**variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The templates, without their parts."""
        return tuple(sorted(name for name in self.sources if not name.startswith(_PART)))

    def variables(self, name: str) -> frozenset[str]:
        """The variables that the template ``name`` takes, those of its parts among them.

        Raises:
            TemplateSyntaxError: it is no template.
            TemplateNotFound: it includes what is no part.
        """
        parsed = self._environment.parse(self.sources[name])
        variables = frozenset(meta.find_undeclared_variables(parsed))
        for part in meta.find_referenced_templates(parsed):
            if part is None or not part.startswith(_PART) or part not in self.sources:
                raise TemplateNotFound(part, f"there is no part {part!r} to include")
            variables |= self.variables(part)
        return variables


def _sources(folder: Path) -> dict[str, str]:
    return {file.stem: read_text(file) for file in sorted(folder.glob("*.md"))}


BUILT_IN = Prompts(_sources(Path(__file__).parent))
"""The templates that come with the package."""


def load(folder: Path | None, *, needed: Collection[str] = ()) -> Prompts:
    """The built-in templates, each replaced by the file of its name in ``folder`` where there is one.

    ``needed`` are variables that a template may leave out elsewhere, but not in this run.

    Raises:
        UsageError: there is no such folder; a file names no template, cannot be read, is no template,
            lacks a variable that is needed or names one that nobody gives. Names file and variable.
    """
    if folder is None:
        return BUILT_IN
    if not folder.is_dir():
        raise UsageError(f"optimizer.prompts_dir={folder}: there is no such folder; give one with templates")
    own = {}
    for file in sorted(folder.glob("*.md")):
        try:
            own[file.stem] = read_text(file)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"optimizer.prompts_dir={folder}: {file} cannot be read ({why(error)})"
            ) from error
    unknown = sorted(own.keys() - set(BUILT_IN.names))
    if unknown:
        raise UsageError(
            f"{folder / unknown[0]}.md is the template of nothing; "
            f"use the names {', '.join(f'{name}.md' for name in BUILT_IN.names)}"
        )
    prompts = Prompts({**BUILT_IN.sources, **own})
    for name in own:
        _check(prompts, name, folder / f"{name}.md", _OPTIONAL - set(needed))
    return prompts


def _check(prompts: Prompts, name: str, file: Path, optional: frozenset[str]) -> None:
    """Refuse a template that would fail during a run, or show the optimizer too little."""
    known = BUILT_IN.variables(name)
    try:
        named = prompts.variables(name)
    except TemplateSyntaxError as error:
        raise UsageError(f"{file}:{error.lineno}: {error.message}; see Jinja's template syntax") from error
    except TemplateNotFound as error:
        raise UsageError(f"{file}: {error.message}; write out what should stand there") from error
    unknown, missing = sorted(named - known), sorted(known - optional - named)
    if unknown:
        raise UsageError(
            f"{file} names the variable {unknown[0]!r}, which nobody gives; "
            f"this template may use {', '.join(sorted(known))}"
        )
    if missing:
        variable = f"{{{{ {missing[0]} }}}}"
        raise UsageError(f"{file} lacks the variable {missing[0]!r}; put {variable} where it belongs")
    try:
        filled = prompts.render(name, **{variable: _SAMPLE[variable] for variable in known})
    except (TemplateError, TypeError, ValueError) as error:
        raise UsageError(f"{file} cannot be filled in: {error}") from error
    # Providers refuse their JSON mode where the prompt does not ask for JSON.
    if "json" not in filled.casefold():
        raise UsageError(f"{file} does not mention JSON; it must ask for the reply as a JSON object")
