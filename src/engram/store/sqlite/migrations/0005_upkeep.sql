-- What time and the engine make of memories: runs, what each decided, judgements, sketches.
-- What each column means stands in ../schema.sql.

ALTER TABLE events ADD COLUMN run TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN rule TEXT NOT NULL DEFAULT '';
CREATE INDEX events_by_run ON events (run) WHERE run <> '';

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  actor TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  step TEXT NOT NULL,
  cursor TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (started_at);

CREATE TABLE decisions (
  number INTEGER PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs (id),
  step TEXT NOT NULL,
  rule TEXT NOT NULL,
  memory TEXT NOT NULL,
  related TEXT NOT NULL,
  outcome TEXT NOT NULL,
  why TEXT NOT NULL,
  also TEXT NOT NULL
);
CREATE INDEX decisions_by_run ON decisions (run, number);
CREATE INDEX decisions_with_names ON decisions (number) WHERE also <> '{}';

CREATE TABLE judgements (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  verdict TEXT NOT NULL,
  at INTEGER NOT NULL,
  again_at INTEGER,
  times INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

CREATE TABLE sketches (
  id INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  title TEXT NOT NULL,
  run TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (kind, scope, key)
);

CREATE TABLE sketch_sources (
  sketch INTEGER NOT NULL REFERENCES sketches (id),
  row INTEGER NOT NULL REFERENCES memories (row),
  PRIMARY KEY (sketch, row)
) WITHOUT ROWID;
CREATE INDEX sketch_sources_by_memory ON sketch_sources (row, sketch);

CREATE INDEX memories_by_layer ON memories (layer, status);
CREATE INDEX memories_by_speaker ON memories (speaker, created_at) WHERE speaker <> '';
