-- Answers to writes that carried a key, for a while: the same write is answered again, not carried out again.
-- What each column means stands in ../schema.sql.

CREATE TABLE answers (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  mark TEXT NOT NULL,
  status INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) WITHOUT ROWID;

CREATE INDEX answers_by_time ON answers (at);
