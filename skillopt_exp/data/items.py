"""Records to items: which field plays which role, what counts as an answer, stable ids."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillopt_exp.config.dataset import FieldsConfig
from skillopt_exp.data.read import Record, Value, kind_of, look_up
from skillopt_exp.errors import DataError
from skillopt_exp.records import Item, Split


@dataclass(frozen=True, slots=True)
class Sourced:
    """An item with its place in the source. ``split`` is None where the source does not say."""

    item: Item
    where: str
    has_own_id: bool
    split: Split | None


@dataclass(frozen=True, slots=True)
class ItemReader:
    """How records are read: the roles of their fields, and the mark that golds stand behind, if any."""

    fields: FieldsConfig
    gold_after: str | None = None

    def read(self, record: Record, *, split: Split | None) -> Sourced:
        """The item of one record.

        Raises:
            DataError: a field is missing or holds what its role cannot be; names file and line.
        """
        question = self._question(record)
        answers = self._answers(record)
        context = self._context(record)
        group = self._group(record)
        own_id = self._id(record)
        item_id = content_digest(question, context, answers)[:16] if own_id is None else own_id
        item = Item(id=item_id, question=question, answers=answers, context=context, group=group)
        for text in (item_id, question, context, group, *answers):
            _refuse_half_characters(text, record.where)
        return Sourced(item, record.where, own_id is not None, split)

    def _required(self, record: Record, role: str, name: str) -> Value:
        try:
            return look_up(record.fields, name)
        except KeyError as error:
            paths = tuple(_paths(record.fields))
            used = self.fields
            taken = {used.id, used.question, used.answers, used.context, used.group}
            instead = next((path for path in paths if path not in taken), "FIELD")
            raise DataError(
                f"{record.where}: has no field {name!r}, but {', '.join(paths) or 'none at all'}; "
                f"say which one it is, as dataset.fields.{role}={instead}"
            ) from error

    def _question(self, record: Record) -> str:
        value = self._required(record, "question", self.fields.question)
        if not isinstance(value, str) or not value.strip():
            problem = "blank" if isinstance(value, str) else kind_of(value)
            raise DataError(
                f"{record.where}: the question (field {self.fields.question!r}) is {problem}; "
                "it must be a text"
            )
        return value

    def _context(self, record: Record) -> str:
        value = optional(record, self.fields.context)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise DataError(
                f"{record.where}: the context (field {self.fields.context!r}) is {kind_of(value)}; it must "
                "be a text or null. Name another field with dataset.fields.context=..., or none with null"
            )
        return value

    def _group(self, record: Record) -> str:
        value = optional(record, self.fields.group)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise DataError(
                f"{record.where}: the group (field {self.fields.group!r}) is {kind_of(value)}; it must be a "
                "text or a number. Name another field with dataset.fields.group=..., or none with null"
            )
        return " ".join(value.split())

    def _id(self, record: Record) -> str | None:
        value = optional(record, self.fields.id)
        if value is None:
            return None
        if not isinstance(value, str):
            raise DataError(
                f"{record.where}: the id (field {self.fields.id!r}) is {kind_of(value)}; it must be a text "
                "or a number. dataset.fields.id=null makes ids from content"
            )
        return value.strip() or None

    def _answers(self, record: Record) -> tuple[str, ...]:
        name = self.fields.answers
        value = self._required(record, "answers", name)
        if isinstance(value, dict):
            raise DataError(
                f"{record.where}: the answers (field {name!r}) are {kind_of(value)}; name the field inside, "
                f"as dataset.fields.answers={name}.{next(iter(value), 'text')}"
            )
        given = value if isinstance(value, list) else [value]
        if not given:
            raise DataError(
                f"{record.where}: the answers (field {name!r}) are an empty list; give at least one"
            )
        return tuple(dict.fromkeys(self._gold(each, record.where) for each in given))

    def _gold(self, value: Value, where: str) -> str:
        name = self.fields.answers
        if not isinstance(value, str) or not value.strip():
            problem = "blank" if isinstance(value, str) else kind_of(value)
            raise DataError(
                f"{where}: an answer (field {name!r}) is {problem}; it must be a text or a number"
            )
        if self.gold_after is None:
            return value
        _, mark, gold = value.rpartition(self.gold_after)
        if not mark or not gold.strip():
            raise DataError(
                f"{where}: no gold after {self.gold_after!r} in field {name!r}; complete it, or set "
                "dataset.gold_after=null to take the whole field"
            )
        return gold.strip()


def require_chosen_fields(records: Iterable[Record], fields: FieldsConfig) -> None:
    """See that an id, context or group field that the user chose is in the data at all.

    All may be absent from a record, so a misspelt name would otherwise pass unnoticed.

    Raises:
        DataError: no record has the chosen field.
    """
    usual = FieldsConfig()
    chosen = (
        ("id", fields.id, usual.id),
        ("context", fields.context, usual.context),
        ("group", fields.group, usual.group),
    )
    for role, name, default in chosen:
        if name is None or name == default:
            continue
        seen: dict[str, None] = {}
        for record in records:
            if _has(record, name):
                break
            seen.update(dict.fromkeys(_paths(record.fields)))
        else:
            raise DataError(
                f"no record has the field {name!r} that dataset.fields.{role} names; the records have "
                f"{', '.join(seen)}. Name one of them, or set dataset.fields.{role}=null"
            )


def _has(record: Record, name: str) -> bool:
    try:
        look_up(record.fields, name)
    except KeyError:
        return False
    return True


def _refuse_half_characters(text: str, where: str) -> None:
    """JSON can escape half of a character outside the basic plane; no endpoint would take it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{where}: holds {text[error.start]!r}, half of a character, as a cut-off text does; "
            "mend that text or leave the record out"
        ) from error


def optional(record: Record, name: str | None) -> Value:
    """The field ``name``, or None where it is absent or null."""
    if name is None:
        return None
    try:
        return look_up(record.fields, name)
    except KeyError:
        return None


def content_digest(question: str, context: str, answers: Sequence[str]) -> str:
    """SHA-256 over what an item says, 64 hex digits; its id plays no part."""
    return hashlib.sha256(json.dumps([question, context, list(answers)]).encode()).hexdigest()


def item_digest(item: Item) -> str:
    """``content_digest`` of an item."""
    return content_digest(item.question, item.context, item.answers)


def _paths(fields: object, prefix: str = "") -> Iterator[str]:
    """The dotted names of all fields that hold a value and not further fields."""
    if isinstance(fields, dict):
        for name, value in fields.items():
            if isinstance(value, dict) and value:
                yield from _paths(value, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}"
