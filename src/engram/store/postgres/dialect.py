"""SQLite's SQL comes in, PostgreSQL's goes out: statements and schema are written once, for both stores.

The nouns of the store write plain SQL with named values. Where the two databases differ, the difference is
one of the rules below; a statement is translated once and kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from engram.lazily import dataclass
from engram.store.sqlite.ledger import LAST, LAST_NOTE
from engram.store.sqlite.names import FREE_NUMBERS
from engram.text import re

NUMBERS: Final = frozenset({"keys", "scopes", "layers", "namespaces", "turns"})
"""Lists of numbers go by these names in statements; every other list holds texts."""
CONFLICTS: Final[Mapping[str, str]] = {
    "changes": "row, namespace",
    "marks": "row, space",
    "origins": "scope, origin",
}
"""What is unique in the tables where a statement leaves that to SQLite."""
GIVEN_OUT: Final[Mapping[str, str]] = {"memories": "row", "entities": "id"}
"""The key of the tables whose new lines are asked for by number."""

# Whole statements, or parts of them, that no rule covers.
PARTS: Final[Mapping[str, str]] = {
    "substr(m.content, -:tail)": "right(m.content, :tail::int)",
    "x''": "''::bytea",
    "char(1114111)": "chr(1114111)",
    "date(at / 1000000, 'unixepoch')": (
        "to_char(to_timestamp(at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
    ),
    "SELECT json_group_array(json_array(a.alias, a.name))": (
        "SELECT coalesce(json_agg(json_build_array(a.alias, a.name) ORDER BY a.alias), '[]')::text"
    ),
    "SELECT json_array(count(*), min(at), max(at))": (
        "SELECT json_build_array(count(*), min(at), max(at))::text"
    ),
    "json_array(EXISTS (": "('[' || (EXISTS (",
    "), NULL, NULL)": "))::int || ', null, null]')",
    FREE_NUMBERS: "SELECT nextval('entities_id_seq') FROM generate_series(1, :count)",
    "SELECT page_count * page_size\nFROM pragma_page_count, pragma_page_size": (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
    ),
    "SELECT name\nFROM sqlite_schema\nWHERE type = 'table'\n  AND sql NOT LIKE 'CREATE VIRTUAL%'": (
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    ),
    " INDEXED BY facts_functional": "",
    "\nSELECT coalesce(max(id), 0)\nFROM scopes\n": "SELECT newest_scopes()",
    "\nSELECT coalesce(max(seq), 0)\nFROM changes\nWHERE namespace = :namespace\n": (
        "SELECT newest_changes(:namespace)"
    ),
    "\nSELECT coalesce(max(seq), 0)\nFROM marks\n": "SELECT newest_marks()",
    "BEGIN IMMEDIATE": "BEGIN",
}

ENDS: Final = frozenset({LAST, LAST_NOTE})
"""Statements that look where a chain ends, to go on from there."""

Values = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class TranslatedStatement:
    """A statement as PostgreSQL takes it."""

    text: str
    names: tuple[str, ...]
    """The values it names, in the order in which they come first; empty where they stand by place."""
    lists: frozenset[str]
    """Values that are lists, which callers give as JSON."""
    gives_key: bool
    """Whether it answers with the key of the line it added."""
    in_order: bool
    """Whether it gives out numbers that are followed over all namespaces, or looks for the last of them."""

    def bound(self, values: Values) -> Values:
        """The values as PostgreSQL takes them."""
        if not self.names:
            return values
        named = values if isinstance(values, Mapping) else dict(zip(self.names, values, strict=False))
        if self.lists:
            return {**named, **{name: json.loads(named[name]) for name in self.lists}}
        return named


@cache
def translate(sql: str) -> TranslatedStatement:
    """A statement of the nouns, for PostgreSQL."""
    for part, other in PARTS.items():
        sql = sql.replace(part, other)
    lists = frozenset(_LIST.findall(sql)) - {"details"}
    text = sql
    for rule in RULES:
        text = rule(text)
    names = tuple(dict.fromkeys(_VALUE.findall(text)))
    if names or "?" in text:
        text = _VALUE.sub(r"%(\1)s", text.replace("%", "%%")).replace("?", "%s")
    table = _ADDED.match(text)
    gives_key = table is not None and table[1] in GIVEN_OUT and " RETURNING " not in text
    if table is not None and gives_key:
        text = f"{text.rstrip()}\nRETURNING {GIVEN_OUT[table[1]]}"
    in_order = sql in ENDS or _FOLLOWED.match(text) is not None
    return TranslatedStatement(text, names, lists, gives_key, in_order)


_LIST = re.compile(r"json_(?:each|array_length)\(:(\w+)\)")
_VALUE = re.compile(r"(?<![:\w]):([a-z_]\w*)")
_ADDED = re.compile(r"\s*INSERT INTO (\w+)")
# Vectors are counted in the line of their space.
_FOLLOWED = re.compile(
    r"\s*(?:INSERT INTO|DELETE FROM) (?:namespaces|scopes|events|marks|embeddings|publications|audit)\b"
)


def _array(name: str) -> str:
    return f":{name}::{'bigint' if name in NUMBERS else 'text'}[]"


def _lists(text: str) -> str:
    """`json_each` over a list that is given becomes an array."""
    text = re.sub(
        r"NOT IN \(\s*SELECT value FROM json_each\(:(\w+)\)\s*\)",
        lambda found: f"<> ALL({_array(found[1])})",
        text,
    )
    text = re.sub(
        r"IN \(\s*SELECT value FROM json_each\(:(\w+)\)\s*\)",
        lambda found: f"= ANY({_array(found[1])})",
        text,
    )
    text = re.sub(
        r"json_each\(:(?!details\b)(\w+)\)(?: AS (\w+))?",
        lambda found: f"unnest({_array(found[1])}) AS {found[2] or 'list'} (value)",
        text,
    )
    text = text.replace("json_each(:details)", "json_each(:details::text)")
    return re.sub(r"json_array_length\(:(\w+)\)", lambda found: f"cardinality({_array(found[1])})", text)


def _joins(text: str) -> str:
    """`CROSS JOIN … ON` only tells SQLite in which order to go."""
    return re.sub(r"CROSS JOIN (\w+) AS (\w+)(\s+)ON\b", r"JOIN \1 AS \2\3ON", text)


def _conflicts(text: str) -> str:
    """`OR IGNORE`, `OR REPLACE` and conflicts of which SQLite finds out itself where they are."""
    text = re.sub(r"\(SELECT max\((\w+)\) \+ 1 FROM (\w+)\)", r"nextval('\2_\1_seq')", text)
    for table, unique in CONFLICTS.items():
        pattern = rf"(INSERT INTO {table}\b(?:(?!INSERT INTO).)*?)ON CONFLICT DO UPDATE"
        text = re.sub(pattern, rf"\1ON CONFLICT ({unique}) DO UPDATE", text, flags=re.DOTALL)
    if "INSERT OR IGNORE" in text:
        text = f"{text.replace('INSERT OR IGNORE', 'INSERT').rstrip()}\nON CONFLICT DO NOTHING"
    replaced = re.match(r"\s*INSERT OR REPLACE INTO (\w+) \(([^)]*)\)", text)
    if replaced:
        table, columns = replaced[1], replaced[2].split(", ")
        unique = CONFLICTS[table]
        others = [f"{name} = excluded.{name}" for name in columns if name not in unique.split(", ")]
        others.append(f"seq = nextval('{table}_seq_seq')")
        text = text.replace("INSERT OR REPLACE", "INSERT").rstrip()
        text = f"{text}\nON CONFLICT ({unique}) DO UPDATE SET {', '.join(others)}"
    return text


def _of_two(text: str) -> str:
    """`min` and `max` of two values are called otherwise than those of a column.

    >>> _of_two("max(coalesce(a, 1), 2) + max(b)")
    'greatest(coalesce(a, 1), 2) + max(b)'
    """
    for found in reversed(list(re.finditer(r"\b(min|max)\(", text))):
        depth = 1
        for at in range(found.end(), len(text)):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            if not depth:
                break
            if depth == 1 and text[at] == ",":
                other = "least" if found[1] == "min" else "greatest"
                text = f"{text[: found.start()]}{other}({text[found.end() :]}"
                break
    return text


def _fields(text: str) -> str:
    """A field of a JSON text."""
    return re.sub(r"((?:\w+\.)?\w+) ->> '", r"\1::json ->> '", text)


def _limits(text: str) -> str:
    """A limit of -1 is none."""
    # One that is none by itself keeps a part of a statement apart from the rest.
    return re.sub(r"LIMIT (:\w+)", r"LIMIT nullif(\1, -1)", text.replace("LIMIT -1", "OFFSET 0"))


def _names(text: str) -> str:
    """`user` is a word of PostgreSQL's own."""
    return re.sub(r"(?<![.:\w\x22\x27])user(?![\w\x22\x27])", '"user"', text)


RULES: Final[tuple[Callable[[str], str], ...]] = (
    _joins,
    _lists,
    _conflicts,
    _of_two,
    _fields,
    _limits,
    _names,
)

# ---------------------------------------------------------------- schema

HELPERS: Final = """
CREATE OR REPLACE FUNCTION json_each(document text)
RETURNS TABLE (key text, value text, type text, atom text)
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
  SELECT
    e.key,
    e.part #>> '{}',
    CASE jsonb_typeof(e.part)
      WHEN 'string' THEN 'text'
      WHEN 'number' THEN CASE WHEN (e.part #>> '{}') ~ '[.eE]' THEN 'real' ELSE 'integer' END
      WHEN 'boolean' THEN e.part #>> '{}'
      ELSE jsonb_typeof(e.part)
    END,
    CASE WHEN jsonb_typeof(e.part) = 'number' THEN trim_scale((e.part #>> '{}')::numeric)::text
      ELSE e.part #>> '{}' END
  FROM (
    SELECT o.key, o.value
    FROM jsonb_each(CASE WHEN document LIKE '{%' THEN document::jsonb ELSE '{}' END) AS o
    UNION ALL
    SELECT (a.place - 1)::text, a.value
    FROM jsonb_array_elements(CASE WHEN document LIKE '[%' THEN document::jsonb ELSE '[]' END)
      WITH ORDINALITY AS a (value, place)
  ) AS e (key, part);
END;

-- Numbers of entities are also given out by whoever writes many at once; none is used twice.
CREATE OR REPLACE FUNCTION entities_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM setval('entities_id_seq', new.id) WHERE new.id > (SELECT last_value FROM entities_id_seq);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER entities_numbered AFTER INSERT ON entities
FOR EACH ROW EXECUTE FUNCTION entities_numbered();
"""
"""What PostgreSQL has not: `json_each` of a text, and numbers that follow those given out by hand."""


@cache
def translate_schema(sql: str) -> str:
    """A schema, or a step of a migration, for PostgreSQL: tables, indexes and triggers."""
    sql = re.sub(r"--[^\n]*", "", sql)
    parts = re.split(r"(CREATE TRIGGER .*?\nEND;)", sql, flags=re.DOTALL)
    return "".join(_trigger(part) if part.startswith("CREATE TRIGGER") else _tables(part) for part in parts)


_TYPES: Final = (
    (r"\bINTEGER PRIMARY KEY(?: AUTOINCREMENT)?(?= REFERENCES)", "BIGINT PRIMARY KEY"),
    (
        r"\bINTEGER PRIMARY KEY(?: AUTOINCREMENT)?",
        "BIGINT GENERATED BY DEFAULT AS IDENTITY (MINVALUE 0 START 1) PRIMARY KEY",
    ),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bREAL\b", "DOUBLE PRECISION"),
    (r"\bBLOB\b", "BYTEA"),
    (r"\bTEXT\b", 'TEXT COLLATE "C"'),
    (r"\(randomblob\(16\)\)", "uuid_send(gen_random_uuid())"),
    (r"\) WITHOUT ROWID;", ");"),
    (r"(DROP TRIGGER (\w+));", r"DROP FUNCTION \2 CASCADE;"),
)


def _tables(sql: str) -> str:
    for pattern, other in _TYPES:
        sql = re.sub(pattern, other, sql)
    return _names(_conflicts(sql))


_TRIGGER = re.compile(
    r"CREATE TRIGGER (?P<name>\w+)\s+(?P<when>(?:AFTER|BEFORE) .*?) ON (?P<table>\w+)"
    r"(?:\s+WHEN (?P<only>.*?))? BEGIN\n(?P<body>.*)\nEND;",
    re.DOTALL,
)


def _trigger(sql: str) -> str:
    found = _TRIGGER.fullmatch(sql)
    if found is None:
        raise ValueError(f"A trigger that is not understood: {sql}")
    body = re.sub(r"SELECT RAISE\(ABORT, ('[^']*')\)", r"RAISE EXCEPTION \1", found["body"])
    only = f"WHEN ({found['only'].replace('IS NOT (', 'IS DISTINCT FROM (')}) " if found["only"] else ""
    result = "NULL" if found["when"].startswith("AFTER") else "new"
    name, when, table = found["name"], found["when"], found["table"]
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$\n"
        f"BEGIN\n{_conflicts(body)}\n  RETURN {result};\nEND $$;\n"
        f"CREATE TRIGGER {name} {when} ON {table}\n"
        f"FOR EACH ROW {only}EXECUTE FUNCTION {name}();"
    )
