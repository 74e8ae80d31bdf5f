-- Recall reads what it needs of each memory from arrays in memory, which follow the file. The text index goes.
-- What each column means stands in ../schema.sql.

DROP TRIGGER texts_added;
DROP TRIGGER texts_removed;
DROP TRIGGER texts_changed;
DROP TABLE vocabulary;
DROP TABLE words;
DROP TABLE totals;
ALTER TABLE texts DROP COLUMN place;

CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  row INTEGER NOT NULL,
  namespace INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  UNIQUE (row, namespace)
);
CREATE INDEX changes_by_namespace ON changes (namespace, seq);
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  since INTEGER NOT NULL,
  upto INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX blocks_by_namespace ON blocks (namespace, since, upto);

CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT new.row, s.namespace, 0 FROM memories AS m JOIN scopes AS s ON s.id = m.scope WHERE m.row = new.row
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
END;
CREATE TRIGGER texts_changed AFTER UPDATE ON texts BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT new.row, s.namespace, 0 FROM memories AS m JOIN scopes AS s ON s.id = m.scope WHERE m.row = new.row
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
END;
CREATE TRIGGER texts_removed AFTER DELETE ON texts BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT old.row, s.namespace, 1 FROM memories AS m JOIN scopes AS s ON s.id = m.scope WHERE m.row = old.row
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
  DELETE FROM blocks WHERE old.row BETWEEN first AND last;
END;
CREATE TRIGGER memories_changed
AFTER UPDATE OF scope, kind, status, created_at, event_time, content ON memories
WHEN (new.scope, new.kind, new.status, new.created_at, new.event_time, new.content)
  IS NOT (old.scope, old.kind, old.status, old.created_at, old.event_time, old.content) BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT old.row, namespace, 1 FROM scopes WHERE id = old.scope AND new.scope <> old.scope
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
  INSERT INTO changes (row, namespace, gone)
  SELECT new.row, namespace, 0 FROM scopes WHERE id = new.scope
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
END;
CREATE TRIGGER turns_joined AFTER INSERT ON edges WHEN new.type = 'next' BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT t.row, s.namespace, 0
  FROM texts AS t JOIN memories AS m ON m.row = t.row JOIN scopes AS s ON s.id = m.scope
  WHERE t.row = new.target
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
END;
CREATE TRIGGER turns_parted AFTER DELETE ON edges WHEN old.type = 'next' BEGIN
  INSERT INTO changes (row, namespace, gone)
  SELECT t.row, s.namespace, 0
  FROM texts AS t JOIN memories AS m ON m.row = t.row JOIN scopes AS s ON s.id = m.scope
  WHERE t.row = old.target
  ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone;
END;

INSERT INTO changes (row, namespace, gone)
SELECT m.row, s.namespace, 0 FROM texts AS t JOIN memories AS m ON m.row = t.row JOIN scopes AS s ON s.id = m.scope
ORDER BY m.row;
