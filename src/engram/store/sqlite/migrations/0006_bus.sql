-- What agents tell each other.
-- What each column means stands in ../schema.sql.

CREATE TABLE publications (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  row INTEGER NOT NULL UNIQUE REFERENCES memories (row),
  agent TEXT NOT NULL,
  region TEXT NOT NULL,
  agents TEXT NOT NULL,
  topics TEXT NOT NULL,
  importance REAL NOT NULL,
  clock TEXT NOT NULL,
  published_at INTEGER NOT NULL
);

CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  topics TEXT NOT NULL,
  agents TEXT NOT NULL,
  min_importance REAL NOT NULL,
  rate INTEGER NOT NULL,
  place INTEGER NOT NULL,
  made_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY REFERENCES memories (row),
  origin TEXT NOT NULL,
  publication TEXT NOT NULL,
  subscription TEXT NOT NULL,
  clock TEXT NOT NULL,
  version INTEGER NOT NULL
);
CREATE INDEX deliveries_by_origin ON deliveries (origin);
