-- Tokens: who may come in from outside, and as whom.
-- What each column means stands in ../schema.sql.

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  scope TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used INTEGER
) WITHOUT ROWID;
