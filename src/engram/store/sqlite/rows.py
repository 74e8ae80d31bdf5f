"""The records, written: a memory's own line, and its tags beside it."""

from __future__ import annotations

from collections.abc import Sequence

from engram.model.memory import Memory
from engram.store.sqlite import records
from engram.store.sqlite.query import Db, ask_line, ask_value

ADD = """
INSERT INTO memories (
  id, scope, session, speaker, content_hash,
  kind, category, type,
  layer, lifecycle, status, verification, policy, priority, pinned,
  importance, confidence, strength, surprise, heat,
  valence, intensity, arousal,
  accessed, repeated, confirmed, sessions, helpful, unhelpful,
  created_at, modified_at, last_accessed, event_time, valid_from, valid_to, verified_at, expires_at,
  source, trust, version, tier,
  content, tags, entities, details, metadata,
  summary, key_fact, label, content_tokens, summary_tokens, key_fact_tokens, label_tokens
)
VALUES (
  :id, :scope, :session, :speaker, :content_hash,
  :kind, :category, :type,
  :layer, :lifecycle, :status, :verification, :policy, :priority, :pinned,
  :importance, :confidence, :strength, :surprise, :heat,
  :valence, :intensity, :arousal,
  :accessed, :repeated, :confirmed, :sessions, :helpful, :unhelpful,
  :created_at, :modified_at, :last_accessed, :event_time, :valid_from, :valid_to, :verified_at, :expires_at,
  :source, :trust, :version, :tier,
  :content, :tags, :entities, :details, :metadata,
  :summary, :key_fact, :label, :content_tokens, :summary_tokens, :key_fact_tokens, :label_tokens
)
"""

REPLACE = """
UPDATE memories
SET
  scope = :scope, session = :session, speaker = :speaker, content_hash = :content_hash,
  kind = :kind, category = :category, type = :type,
  layer = :layer, lifecycle = :lifecycle, status = :status, verification = :verification,
  policy = :policy, priority = :priority, pinned = :pinned,
  importance = :importance, confidence = :confidence, strength = :strength,
  surprise = :surprise, heat = :heat,
  valence = :valence, intensity = :intensity, arousal = :arousal,
  accessed = :accessed, repeated = :repeated, confirmed = :confirmed,
  sessions = :sessions, helpful = :helpful, unhelpful = :unhelpful,
  created_at = :created_at, modified_at = :modified_at, last_accessed = :last_accessed,
  event_time = :event_time, valid_from = :valid_from, valid_to = :valid_to,
  verified_at = :verified_at, expires_at = :expires_at,
  source = :source, trust = :trust, version = :version, tier = :tier,
  content = :content, tags = :tags, entities = :entities, details = :details,
  metadata = :metadata,
  summary = :summary, key_fact = :key_fact, label = :label,
  content_tokens = :content_tokens, summary_tokens = :summary_tokens,
  key_fact_tokens = :key_fact_tokens, label_tokens = :label_tokens
WHERE row = :row
"""

REMOVE = """
DELETE FROM memories
WHERE row = :row
"""

# Only the row: asking for a whole record costs its many columns even when there is none.
WITH_HASH = """
SELECT row
FROM memories
WHERE content_hash = :content_hash
  AND scope = :scope
  AND status = 'active'
ORDER BY row
LIMIT 1
"""

BY_ROW = records.select("""
WHERE m.row = :row
""")

ROW_OF = """
SELECT row
FROM memories
WHERE id = :id
"""

LAST_OF_SESSION = """
SELECT id, row
FROM memories
WHERE session = :session
  AND session <> ''
  AND scope = :scope
ORDER BY row DESC
LIMIT 1
"""

ADD_TAGS = """
INSERT OR IGNORE INTO memory_tags (row, tag)
SELECT :row, value
FROM json_each(:tags)
"""

DROP_TAGS = """
DELETE FROM memory_tags
WHERE row = :row
"""


def add(db: Db, memory: Memory, scope: int) -> int:
    """Write a new record; its row."""
    db.execute(ADD, records.to_row(memory, scope))
    row = db.last_insert_rowid()
    _put_tags(db, row, memory.tags)
    return row


def replace(db: Db, row: int, old: Memory, new: Memory, scope: int) -> None:
    """Write a record over the old one; `scope` is the number of the new one's scope."""
    db.execute(REPLACE, (*records.to_row(new, scope)[1:], row))
    if new.tags != old.tags:
        db.execute(DROP_TAGS, {"row": row})
        _put_tags(db, row, new.tags)


def remove(db: Db, row: int) -> None:
    """Take a record away, with its tags."""
    for sql in (DROP_TAGS, REMOVE):
        db.execute(sql, {"row": row})


def with_hash(db: Db, content_hash: str, scope: int) -> Memory | None:
    """The active memory of a scope with this hash."""
    row = ask_value(db, WITH_HASH, {"content_hash": content_hash, "scope": scope})
    line = None if row is None else ask_line(db, BY_ROW, {"row": row})
    return None if line is None else records.from_row(line)[1]


def row_of(db: Db, memory_id: str) -> int | None:
    """The row of a full id."""
    row: int | None = ask_value(db, ROW_OF, {"id": memory_id})
    return row


def last_of_session(db: Db, session: str, scope: int) -> tuple[str, int] | None:
    """Id and row of the newest memory of a session."""
    line = ask_line(db, LAST_OF_SESSION, {"session": session, "scope": scope})
    return None if line is None else (line[0], line[1])


def _put_tags(db: Db, row: int, tags: Sequence[str]) -> None:
    if tags:
        db.execute(ADD_TAGS, (row, records.names_to_json(tags)))
