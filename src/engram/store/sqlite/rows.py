"""The records, written: a memory's own line, and its tags beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any

from engram.model.clock import EPOCH, to_micros
from engram.model.memory import (
    FIELD_NAMES,
    UNSEALED,
    Affect,
    Forms,
    Kind,
    Layer,
    Lifecycle,
    Memory,
    Policy,
    Priority,
    SealedWords,
    Status,
    Tier,
    Type,
    Usage,
    Verification,
)
from engram.model.scope import Scope
from engram.store.sqlite.connection import Db, Line, ask, ask_line, delete, look_up, putting
from engram.text.forms import FormsOnDemand
from engram.text.metadata import values

# ---------------------------------------------------------------- records
# A line of the table comes in, a `Memory` comes out, and the way back. The one place that knows both.


COLUMNS = """
  m.row,
  m.id, m.content, m.content_hash, m.created_at, m.modified_at,
  n.name, s.project, s.squad, s.agent, s.channel, s.user,
  m.session, m.speaker,
  m.kind, m.category, m.type, m.tags, m.entities, m.details, m.metadata,
  m.layer, m.lifecycle, m.status, m.verification, m.policy, m.priority, m.pinned,
  m.importance, m.confidence, m.strength, m.surprise,
  m.valence, m.intensity, m.arousal,
  m.accessed, m.repeated, m.confirmed, m.sessions, m.helpful, m.unhelpful,
  m.last_accessed, m.event_time, m.valid_from, m.valid_to, m.verified_at, m.expires_at,
  m.source, m.trust, m.version, m.tier,
  m.summary, m.key_fact, m.label, m.content_tokens, m.summary_tokens, m.key_fact_tokens, m.label_tokens,
  m.sealed
"""

SOURCE = """
FROM memories AS m
JOIN scopes AS s ON s.id = m.scope
JOIN namespaces AS n ON n.id = s.namespace
"""


def select(rest: str, also: str = "") -> str:
    """The statement that reads whole records: `rest` says which, `also` names columns to append."""
    return f"SELECT {COLUMNS.strip()}{', ' + also if also else ''}{SOURCE}{rest}"


# A plain look-up is several times faster than calling the enumeration.
_KINDS = {x.value: x for x in Kind}
_TYPES = {x.value: x for x in Type}
_LAYERS = {x.number: x for x in Layer}
_LIFECYCLES = {x.value: x for x in Lifecycle}
_STATUSES = {x.value: x for x in Status}
_VERIFICATIONS = {x.value: x for x in Verification}
_POLICIES = {x.value: x for x in Policy}
_PRIORITIES = {x.value: x for x in Priority}
_TIERS = {x.value: x for x in Tier}


def _encoder() -> Callable[[object], str]:
    """JSON with text as it is; what JSON does not know becomes its text.

    The part that is written in C is made once here; `JSONEncoder.encode` makes it anew for each call.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(ensure_ascii=False, default=str).encode
    chunks = make(
        markers=None,
        default=str,
        encoder=encode_basestring,
        indent=None,
        key_separator=": ",
        item_separator=", ",
        sort_keys=False,
        skipkeys=False,
        allow_nan=True,
    )
    return lambda value: "".join(chunks(value, 0))


encoded = _encoder()
_read_json = json.JSONDecoder().raw_decode

ON_DEMAND = ("", "", "", -1, -1, -1, -1)
"""What is written for shorter forms that are worked out when they are asked for."""
_NO_AFFECT, _NO_USAGE = Affect(), Usage()
scope_of = lru_cache(maxsize=1_000)(Scope)


def from_row(line: tuple[Any, ...]) -> tuple[int, Memory]:
    """The key and the memory of one line of `select`."""
    (
        key, id_, content, content_hash, created_at, modified_at,
        namespace, project, squad, agent, channel, user,
        session, speaker,
        kind, category, type_, tags, entities, details, metadata,
        layer, lifecycle, status, verification, policy, priority, pinned,
        importance, confidence, strength, surprise,
        valence, intensity, arousal,
        accessed, repeated, confirmed, sessions, helpful, unhelpful,
        last_accessed, event_time, valid_from, valid_to, verified_at, expires_at,
        source, trust, version, tier,
        summary, key_fact, label, content_tokens, summary_tokens, key_fact_tokens, label_tokens,
        sealed,
    ) = line  # fmt: skip
    one = object.__new__(StoredMemory)
    known = one.__dict__
    known["id"] = id_
    known["content"] = content
    known["content_hash"] = content_hash
    known["created_at "] = created_at
    known["modified_at "] = modified_at
    known["scope"] = scope_of(namespace, project, squad, agent, channel, user)
    known["session"] = session
    known["speaker"] = speaker
    known["kind"] = _KINDS[kind]
    known["category"] = category
    known["type"] = _TYPES[type_]
    known["tags "] = tags
    known["entities "] = entities
    known["details "] = details
    known["metadata "] = metadata
    known["layer"] = _LAYERS[layer]
    known["lifecycle"] = _LIFECYCLES[lifecycle]
    known["status"] = _STATUSES[status]
    known["verification"] = _VERIFICATIONS[verification]
    known["policy"] = _POLICIES[policy]
    known["priority"] = _PRIORITIES[priority]
    known["pinned"] = pinned == 1
    known["importance"] = importance
    known["confidence"] = confidence
    known["strength"] = strength
    known["surprise"] = surprise
    known["affect "] = (valence, intensity, arousal)
    known["usage "] = (accessed, repeated, confirmed, sessions, helpful, unhelpful)
    known["last_accessed "] = last_accessed
    known["event_time"] = None if event_time is None else _moment(event_time)
    known["valid_from "] = valid_from
    known["valid_to"] = None if valid_to is None else _moment(valid_to)
    known["verified_at "] = verified_at
    known["expires_at"] = None if expires_at is None else _moment(expires_at)
    known["source"] = source
    known["trust"] = trust
    known["version"] = version
    known["tier"] = _TIERS[tier]
    known["forms "] = (
        content,
        (summary, key_fact, label, content_tokens, summary_tokens, key_fact_tokens, label_tokens),
    )
    known["sealed"] = SealedWords(sealed) if sealed else UNSEALED
    return key, one


class StoredMemory(Memory):
    """A memory as it comes from its line: what takes a while to read back waits until somebody asks for it.

    What waits stands in `__dict__` under its name with a space behind it, also in a copy and on the way to
    another process; one with other fields is a plain `Memory`.
    """

    def __new__(cls, *values: Any, **named: Any) -> Memory:  # type: ignore[misc]
        """What `dataclasses.replace` asks for."""
        return Memory(*values, **named)

    def __eq__(self, other: object) -> bool:
        return not self.differing(other) if isinstance(other, Memory) else NotImplemented

    __hash__ = Memory.__hash__

    def having(self, **fields: Any) -> Memory:
        """The same with other values; what waits goes on waiting."""
        if unknown := fields.keys() - set(FIELD_NAMES):
            raise TypeError(f"a memory has no {', '.join(sorted(unknown))}")
        read = {f"{name} ": value for name, value in fields.items() if name in _LATER}
        return _stored_memory({**self.__dict__, **read, **fields})

    def differing(self, other: Memory) -> list[str]:
        """The fields in which another one differs; what waits in both is compared as it waits."""
        if not isinstance(other, StoredMemory):
            return super().differing(other)
        mine, theirs = _AS_KEPT(self.__dict__), _AS_KEPT(other.__dict__)
        if mine == theirs:
            return []
        return [
            name
            for name, one, two in zip(FIELD_NAMES, mine, theirs, strict=True)
            if one is not two and one != two and getattr(self, name) != getattr(other, name)
        ]

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Memory], tuple[dict[str, Any]]]:
        return _stored_memory, (self.__dict__,)


def _stored_memory(known: dict[str, Any]) -> Memory:
    one = object.__new__(StoredMemory)
    one.__dict__.update(known)
    return one


class _FieldsReadBack:
    """The fields of a stored memory. Who asks one for them goes through all, so nothing waits any more.

    The encoder does, and looks into `__dict__` alone.
    """

    def __get__(self, one: Memory | None, owner: type[Memory]) -> Any:
        for name in FIELD_NAMES if one is not None else ():
            getattr(one, name)
        return Memory.__dataclass_fields__


StoredMemory.__dataclass_fields__ = _FieldsReadBack()  # type: ignore[assignment]


class _ReadLater:
    """A field of a stored memory that is read back when it is first asked for, and kept."""

    def __init__(self, name: str, read: Callable[[Any], Any]) -> None:
        self._name, self._kept = name, f"{name} "
        self._read = read

    def __get__(self, one: Memory | None, owner: type[Memory]) -> Any:
        if one is None:
            return self
        known = one.__dict__
        found = known[self._name] = self._read(known[self._kept])
        return found


def _read_forms(stored: tuple[str, tuple[Any, ...]]) -> Forms:
    content, forms = stored
    return FormsOnDemand(content) if forms[3] == ON_DEMAND[-1] else Forms(*forms)


def to_row(memory: Memory, scope: int) -> tuple[Any, ...]:
    """The values of a memory's line, in the order of `rows.ADD`; `scope` is the number of its scope."""
    affect, usage = memory.affect, memory.usage
    return (
        memory.id,
        scope,
        memory.session,
        memory.speaker,
        memory.content_hash,
        memory.kind.value,
        memory.category,
        memory.type.value,
        memory.layer.number,
        memory.lifecycle.value,
        memory.status.value,
        memory.verification.value,
        memory.policy.value,
        memory.priority.value,
        int(memory.pinned),
        memory.importance,
        memory.confidence,
        memory.strength,
        memory.surprise,
        affect.valence,
        affect.intensity,
        affect.arousal,
        usage.accessed,
        usage.repeated,
        usage.confirmed,
        usage.sessions,
        usage.helpful,
        usage.unhelpful,
        to_micros(memory.created_at),
        to_micros(memory.modified_at),
        micros(memory.last_accessed),
        micros(memory.event_time),
        micros(memory.valid_from),
        micros(memory.valid_to),
        micros(memory.verified_at),
        micros(memory.expires_at),
        memory.source,
        memory.trust,
        memory.version,
        memory.tier.value,
        memory.content,
        names_to_json(memory.tags),
        names_to_json(memory.entities),
        to_json(dict(memory.details)),
        to_json(dict(memory.metadata)),
        *_forms(memory.forms),
        memory.sealed or None,
    )


def _columns(name: str, memory: Memory, scope: int) -> list[tuple[str, Any]]:
    """The columns of one field with their values."""
    value = getattr(memory, name)
    if isinstance(value, Affect | Usage):
        return list(asdict(value).items())
    if isinstance(value, Forms):
        return list(zip(_FORM_COLUMNS, _forms(value), strict=True))
    return [(name, scope if name == "scope" else _stored(value))]


def _stored(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.number if isinstance(value, Layer) else value.value
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, tuple):
        return names_to_json(value)
    if isinstance(value, Mapping):
        return to_json(dict(value))
    if isinstance(value, SealedWords):
        return value or None
    return int(value) if isinstance(value, bool) else value


_FORM_COLUMNS = (
    "summary", "key_fact", "label", "content_tokens", "summary_tokens", "key_fact_tokens", "label_tokens"
)  # fmt: skip


def _forms(forms: Forms) -> tuple[str | int, ...]:
    if isinstance(forms, FormsOnDemand):
        return ON_DEMAND
    costs = (forms.content_tokens, forms.summary_tokens, forms.key_fact_tokens, forms.label_tokens)
    return forms.summary, forms.key_fact, forms.label, *costs


def to_json(value: object) -> str:
    """A value as JSON, text as it is; what JSON does not know becomes its text."""
    if not value and isinstance(value, dict | tuple):
        return "{}" if isinstance(value, dict) else "[]"
    return encoded(value)


def names_to_json(names: Iterable[str]) -> str:
    """The same of texts only, which needs no look at what each of them is."""
    return f"[{', '.join(map(encode_basestring, names))}]"


def as_list(values: Iterable[object]) -> str:
    """Values as a JSON list, to be taken apart by `json_each` inside a statement."""
    return json.dumps(list(values))


def as_keys(keys: Iterable[int]) -> str:
    """Row numbers as the same; they may be numpy's. Asked for so often that the short way counts.

    >>> as_keys([3, 1])
    '[3,1]'
    """
    return f"[{','.join(map(str, keys))}]"


def micros(moment: datetime | None) -> int | None:
    """A moment that may be missing, as it is stored."""
    return None if moment is None else to_micros(moment)


def _moment(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


def _maybe(value: int | None) -> datetime | None:
    return None if value is None else EPOCH + timedelta(microseconds=value)


def names_in(text: str) -> tuple[str, ...]:
    """What `names_to_json` wrote."""
    return () if text == "[]" else tuple(_read_json(text)[0])


def from_json(text: str | None) -> dict[str, Any]:
    """An object that `to_json` wrote; an empty one where there is none."""
    found: dict[str, Any] = {} if text is None or text in {"", "{}"} else _read_json(text)[0]
    return found


_LATER: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("created_at", "modified_at"), _moment),
    **dict.fromkeys(("last_accessed", "valid_from", "verified_at"), _maybe),
    **dict.fromkeys(("tags", "entities"), names_in),
    **dict.fromkeys(("details", "metadata"), from_json),
    "affect": lambda told: Affect(*told) if any(told) else _NO_AFFECT,
    "usage": lambda told: Usage(*told) if any(told) else _NO_USAGE,
    "forms": _read_forms,
}
_AS_KEPT = itemgetter(*(f"{name} " if name in _LATER else name for name in FIELD_NAMES))
"""The fields as a line that was read holds them."""
for _name in FIELD_NAMES:
    # In the place of the parent's slot, so that `__dict__` is looked at first.
    setattr(StoredMemory, _name, _ReadLater(_name, _LATER[_name]) if _name in _LATER else None)


NAMES = """
  id, scope, session, speaker, content_hash,
  kind, category, type,
  layer, lifecycle, status, verification, policy, priority, pinned,
  importance, confidence, strength, surprise,
  valence, intensity, arousal,
  accessed, repeated, confirmed, sessions, helpful, unhelpful,
  created_at, modified_at, last_accessed, event_time, valid_from, valid_to, verified_at, expires_at,
  source, trust, version, tier,
  content, tags, entities, details, metadata,
  summary, key_fact, label, content_tokens, summary_tokens, key_fact_tokens, label_tokens, sealed
"""
ADD = putting("memories", tuple(NAMES.replace(",", " ").split()))


@lru_cache(maxsize=256)
def _replacing(columns: tuple[str, ...]) -> str:
    """The statement that writes these columns anew: the fewer, the fewer indexes are touched."""
    return f"UPDATE memories SET {', '.join(f'{one} = :{one}' for one in columns)} WHERE row = :row"  # noqa: S608


# Only the row: asking for a whole record costs its many columns even when there is none.
WITH_HASHES = """
SELECT m.content_hash, min(m.row)
FROM json_each(:hashes) AS j
CROSS JOIN memories AS m ON m.content_hash = j.value
WHERE m.scope = :scope
  AND m.status = 'active'
GROUP BY m.content_hash
"""

BY_ROW = select("""
WHERE m.row = :row
""")

LAST_OF_SESSION = """
SELECT id, row
FROM memories
WHERE session = :session
  AND session <> ''
  AND scope = :scope
ORDER BY row DESC
LIMIT 1
"""


def add(db: Db, memory: Memory, scope: int) -> int:
    """Write a new record; its row."""
    db.execute(ADD, to_row(memory, scope))
    row = db.last_insert_rowid()
    _put_tags(db, row, memory.tags)
    return row


def replace(db: Db, row: int, old: Memory, new: Memory, names: Sequence[str], scope: int) -> None:
    """Write the fields of a record that differ; `scope` is the number of the new one's scope."""
    written = {
        column: value
        for name in names
        for (column, value), before in zip(_columns(name, new, scope), _columns(name, old, -1), strict=True)
        if before != (column, value)
    }
    if written:
        db.execute(_replacing(tuple(written)), (*written.values(), row))
    if "tags" in names:
        delete(db, "memory_tags", row=row)
        _put_tags(db, row, new.tags)


def with_hashes(db: Db, hashes: Iterable[str], scope: int) -> dict[str, int]:
    """The rows of the active memories of a scope with these hashes."""
    return dict(ask(db, WITH_HASHES, {"hashes": as_list(hashes), "scope": scope}))


def by_row(db: Db, row: int) -> Memory | None:
    """The memory of a row."""
    line = ask_line(db, BY_ROW, {"row": row})
    return None if line is None else from_row(line)[1]


def row_of(db: Db, memory_id: str) -> int | None:
    """The row of a full id."""
    row: int | None = look_up(db, "memories", "row", id=memory_id)
    return row


def last_of_session(db: Db, session: str, scope: int) -> tuple[str, int] | None:
    """Id and row of the newest memory of a session."""
    line = ask_line(db, LAST_OF_SESSION, {"session": session, "scope": scope})
    return None if line is None else (line[0], line[1])


def _put_tags(db: Db, row: int, tags: Sequence[str]) -> None:
    if tags:
        sql = "INSERT OR IGNORE INTO memory_tags (row, tag) SELECT :row, lower(value) FROM json_each(:tags)"
        db.execute(sql, (row, names_to_json(tags)))


# ---------------------------------------------------------------- facets
# What memories speak of, written: a record comes in, the lines that filters look up are kept in step.


def lines(row: int, memory: Memory) -> list[Line]:
    """What is written of a memory."""
    return [(facet, value, row) for facet, value in values(memory.metadata)] if memory.metadata else []


def add_facets(db: Db, new: list[Line]) -> None:
    """Keep what new memories speak of; in the order of the table, which is quicker."""
    db.executemany(putting("facets", ("facet", "value", "row")), sorted(new))


def change(db: Db, row: int, memory: Memory) -> None:
    """The same of a memory that speaks of something else now."""
    delete(db, "facets", row=row)
    add_facets(db, lines(row, memory))
