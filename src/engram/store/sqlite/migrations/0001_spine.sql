-- The spine: records, words, vectors, edges, ledger. What each column means stands in ../schema.sql.

CREATE TABLE totals (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  texts INTEGER NOT NULL,
  terms INTEGER NOT NULL
);
INSERT INTO totals (one, texts, terms) VALUES (1, 0, 0);

CREATE TABLE namespaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE
);

CREATE TABLE scopes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  project TEXT NOT NULL,
  squad TEXT NOT NULL,
  agent TEXT NOT NULL,
  channel TEXT NOT NULL,
  user TEXT NOT NULL,
  memories INTEGER NOT NULL DEFAULT 0,
  UNIQUE (namespace, project, squad, agent, channel, user)
);

CREATE TABLE memories (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  session TEXT NOT NULL,
  speaker TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  category TEXT NOT NULL,
  type TEXT NOT NULL,
  layer INTEGER NOT NULL,
  lifecycle TEXT NOT NULL,
  status TEXT NOT NULL,
  verification TEXT NOT NULL,
  policy TEXT NOT NULL,
  priority TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  importance REAL NOT NULL,
  confidence REAL NOT NULL,
  strength REAL NOT NULL,
  surprise REAL NOT NULL,
  heat REAL NOT NULL,
  valence REAL NOT NULL,
  intensity REAL NOT NULL,
  arousal REAL NOT NULL,
  accessed INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  confirmed INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  helpful INTEGER NOT NULL,
  unhelpful INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  last_accessed INTEGER,
  event_time INTEGER,
  valid_from INTEGER,
  valid_to INTEGER,
  verified_at INTEGER,
  expires_at INTEGER,
  source TEXT NOT NULL,
  trust REAL NOT NULL,
  version INTEGER NOT NULL,
  tier TEXT NOT NULL,
  content_tokens INTEGER NOT NULL,
  summary_tokens INTEGER NOT NULL,
  key_fact_tokens INTEGER NOT NULL,
  label_tokens INTEGER NOT NULL,
  content TEXT NOT NULL,
  tags TEXT NOT NULL,
  entities TEXT NOT NULL,
  details TEXT NOT NULL,
  summary TEXT NOT NULL,
  key_fact TEXT NOT NULL,
  label TEXT NOT NULL,
  salt BLOB NOT NULL DEFAULT (randomblob(16))
);
CREATE INDEX memories_by_hash ON memories (content_hash, scope);
CREATE INDEX memories_by_session ON memories (session, scope) WHERE session <> '';
CREATE INDEX memories_by_time ON memories (created_at);
CREATE INDEX memories_by_event ON memories (coalesce(event_time, created_at));
CREATE INDEX memories_by_scope ON memories (scope, created_at);
CREATE INDEX memories_by_category ON memories (category, scope);
CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
  UPDATE scopes SET memories = memories + 1 WHERE id = new.scope;
END;
CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
  UPDATE scopes SET memories = memories - 1 WHERE id = old.scope;
END;
CREATE TRIGGER memories_moved AFTER UPDATE OF scope ON memories WHEN new.scope <> old.scope BEGIN
  UPDATE scopes SET memories = memories - 1 WHERE id = old.scope;
  UPDATE scopes SET memories = memories + 1 WHERE id = new.scope;
END;

CREATE TABLE memory_tags (
  row INTEGER NOT NULL REFERENCES memories (row),
  tag TEXT NOT NULL,
  PRIMARY KEY (row, tag)
) WITHOUT ROWID;
CREATE INDEX memory_tags_by_tag ON memory_tags (tag, row);

CREATE TABLE mentions (
  row INTEGER NOT NULL REFERENCES memories (row),
  name TEXT NOT NULL,
  PRIMARY KEY (row, name)
) WITHOUT ROWID;
CREATE INDEX mentions_by_name ON mentions (name, row);

CREATE TABLE facts (
  id INTEGER PRIMARY KEY,
  row INTEGER NOT NULL REFERENCES memories (row),
  subject TEXT NOT NULL,
  predicate TEXT NOT NULL,
  object TEXT NOT NULL,
  functional INTEGER NOT NULL
);
CREATE INDEX facts_by_subject ON facts (subject, predicate);
CREATE INDEX facts_by_memory ON facts (row);

CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES memories (row),
  body TEXT NOT NULL,
  cues TEXT NOT NULL,
  place TEXT NOT NULL,
  length INTEGER NOT NULL
);

CREATE VIRTUAL TABLE words USING fts5 (
  body, cues, place,
  content = 'texts', content_rowid = 'row', tokenize = "ascii tokenchars '_'"
);

CREATE VIRTUAL TABLE vocabulary USING fts5vocab ('words', 'row');

CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
  INSERT INTO words (rowid, body, cues, place) VALUES (new.row, new.body, new.cues, new.place);
  UPDATE totals SET texts = texts + 1, terms = terms + new.length;
END;
CREATE TRIGGER texts_removed AFTER DELETE ON texts BEGIN
  INSERT INTO words (words, rowid, body, cues, place) VALUES ('delete', old.row, old.body, old.cues, old.place);
  UPDATE totals SET texts = texts - 1, terms = terms - old.length;
END;
CREATE TRIGGER texts_changed AFTER UPDATE ON texts BEGIN
  INSERT INTO words (words, rowid, body, cues, place) VALUES ('delete', old.row, old.body, old.cues, old.place);
  INSERT INTO words (rowid, body, cues, place) VALUES (new.row, new.body, new.cues, new.place);
  UPDATE totals SET terms = terms + new.length - old.length;
END;

CREATE TABLE spaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  centre BLOB,
  vectors INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY,
  scale REAL NOT NULL,
  vector BLOB NOT NULL
);
CREATE TRIGGER embeddings_added AFTER INSERT ON embeddings BEGIN
  UPDATE spaces SET vectors = vectors + 1 WHERE id = new.id >> 40;
END;
CREATE TRIGGER embeddings_removed AFTER DELETE ON embeddings BEGIN
  UPDATE spaces SET vectors = vectors - 1 WHERE id = old.id >> 40;
END;

CREATE TABLE marks (
  seq INTEGER PRIMARY KEY,
  row INTEGER NOT NULL,
  space INTEGER NOT NULL REFERENCES spaces (id),
  gone INTEGER NOT NULL,
  namespace INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  status INTEGER NOT NULL,
  signature BLOB,
  UNIQUE (row, space)
);

CREATE TABLE edges (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES memories (row),
  target INTEGER NOT NULL REFERENCES memories (row),
  type TEXT NOT NULL,
  weight REAL NOT NULL,
  confidence REAL NOT NULL,
  origin TEXT NOT NULL,
  last_reinforced_at INTEGER,
  UNIQUE (source, target, type)
);
CREATE INDEX edges_by_target ON edges (target);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  memory TEXT NOT NULL,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  because TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  related TEXT NOT NULL
);
CREATE INDEX events_by_memory ON events (memory);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER events_stay_there BEFORE DELETE ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TABLE versions (
  event INTEGER PRIMARY KEY REFERENCES events (seq),
  row INTEGER NOT NULL REFERENCES memories (row),
  before TEXT NOT NULL,
  after TEXT NOT NULL
);
CREATE INDEX versions_by_memory ON versions (row);

CREATE TABLE feedback (
  id INTEGER PRIMARY KEY,
  row INTEGER NOT NULL REFERENCES memories (row),
  helpful INTEGER NOT NULL,
  space TEXT NOT NULL,
  vector BLOB,
  at INTEGER NOT NULL
);
CREATE INDEX feedback_by_memory ON feedback (row);

CREATE TABLE access_log (
  id INTEGER PRIMARY KEY,
  row INTEGER NOT NULL REFERENCES memories (row),
  session TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX access_log_by_memory ON access_log (row, session);
