-- Sessions that sleep.
-- What each column means stands in ../schema.sql.

CREATE TABLE snapshots (
  id INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  session TEXT NOT NULL,
  agent TEXT NOT NULL,
  model TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  slots INTEGER NOT NULL,
  memories TEXT NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (scope, session)
);
