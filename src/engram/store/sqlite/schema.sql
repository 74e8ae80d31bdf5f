-- The whole schema as it is now, to be read. Files are made by the migrations; a test proves that both give the same.
-- Times are whole microseconds since 1970, UTC. "A memory's row" is `memories.row`, the key that searches speak in.

-- Each namespace has a short number.
CREATE TABLE namespaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number, never used again
  name TEXT NOT NULL UNIQUE -- as callers write it
);

-- Each place that a memory was ever stored at.
CREATE TABLE scopes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number, never used again
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- the tree it stands in
  project TEXT NOT NULL, -- empty: every project
  squad TEXT NOT NULL, -- empty: every squad
  agent TEXT NOT NULL, -- empty: every agent
  channel TEXT NOT NULL, -- empty: every channel
  user TEXT NOT NULL, -- empty: every user
  memories INTEGER NOT NULL DEFAULT 0, -- how many memories are there
  UNIQUE (namespace, project, squad, agent, channel, user)
);

-- The record: one line for each memory of every kind. Long texts stand last, so that filters need not read over them.
CREATE TABLE memories (
  row INTEGER PRIMARY KEY AUTOINCREMENT, -- the key: grows with time of storing, never used again
  id TEXT NOT NULL UNIQUE, -- what callers know it by
  scope INTEGER NOT NULL REFERENCES scopes (id), -- where it belongs
  session TEXT NOT NULL, -- the conversation it came from, or empty
  speaker TEXT NOT NULL, -- who said it, or empty
  content_hash TEXT NOT NULL, -- SHA-256 of the normalized content
  kind TEXT NOT NULL, -- episodic, semantic, procedural, codebase
  category TEXT NOT NULL, -- what it is about, a slug
  type TEXT NOT NULL, -- fact, procedure, narrative
  layer INTEGER NOT NULL, -- 1 buffer, 2 working, 3 core
  lifecycle TEXT NOT NULL, -- candidate, validated, active, stale
  status TEXT NOT NULL, -- active, challenged, invalidated, merged, superseded, archived
  verification TEXT NOT NULL, -- unverified, user_confirmed, system_inferred, disputed
  policy TEXT NOT NULL, -- ephemeral, durable, protected
  priority TEXT NOT NULL, -- P0 to P3
  pinned INTEGER NOT NULL, -- 1 when a person pinned it
  importance REAL NOT NULL, -- 0 to 1
  confidence REAL NOT NULL, -- 0 to 1
  strength REAL NOT NULL, -- how well it is held
  surprise REAL NOT NULL, -- how little it was expected
  valence REAL NOT NULL, -- how it felt: -1 to 1
  intensity REAL NOT NULL, -- how strongly it felt
  arousal REAL NOT NULL, -- how much it stirred
  accessed INTEGER NOT NULL, -- recalls that used it
  repeated INTEGER NOT NULL, -- times it was said again
  confirmed INTEGER NOT NULL, -- times it was confirmed
  sessions INTEGER NOT NULL, -- distinct sessions that used it
  helpful INTEGER NOT NULL, -- times it was said to help
  unhelpful INTEGER NOT NULL, -- times it was said not to help
  created_at INTEGER NOT NULL, -- when it was stored
  modified_at INTEGER NOT NULL, -- when it was changed last
  last_accessed INTEGER, -- when it was used last
  event_time INTEGER, -- when it happened
  valid_from INTEGER, -- since when it is true
  valid_to INTEGER, -- until when it was true
  verified_at INTEGER, -- when somebody vouched for it
  expires_at INTEGER, -- when it may go
  source TEXT NOT NULL, -- human, agent, import, task:… and so on
  trust REAL NOT NULL, -- how far that source is trusted, 0 to 1
  version INTEGER NOT NULL, -- grows with each change of the content
  tier TEXT NOT NULL, -- clear, sensitive, confidential
  content_tokens INTEGER NOT NULL, -- what the content costs
  summary_tokens INTEGER NOT NULL, -- what the summary costs
  key_fact_tokens INTEGER NOT NULL, -- what the key fact costs
  label_tokens INTEGER NOT NULL, -- what the label costs
  content TEXT NOT NULL, -- what it says
  tags TEXT NOT NULL, -- JSON list, in the order given
  entities TEXT NOT NULL, -- JSON list of names in the content
  details TEXT NOT NULL, -- JSON object: what only its kind knows
  summary TEXT NOT NULL, -- the content in fewer words, or empty
  key_fact TEXT NOT NULL, -- its one fact, or empty
  label TEXT NOT NULL, -- a few words, or empty
  salt BLOB NOT NULL DEFAULT (randomblob(16)), -- goes into the digests of its texts in the ledger; erasing it makes them dumb
  metadata TEXT, -- JSON object: what its words speak of; NULL: not worked out yet
  sealed BLOB -- its words under the field key, where the other texts are only what is left of them; NULL: they are not
);
CREATE INDEX memories_by_hash ON memories (content_hash, scope);
CREATE INDEX memories_by_session ON memories (session, scope) WHERE session <> '';
CREATE INDEX memories_by_time ON memories (created_at);
CREATE INDEX memories_by_event ON memories (coalesce(event_time, created_at));
CREATE INDEX memories_by_scope ON memories (scope, created_at);
CREATE INDEX memories_by_category ON memories (category, scope);
CREATE INDEX memories_first ON memories (created_at) WHERE priority = 'P0'; -- what always stands in the pack
CREATE INDEX memories_by_layer ON memories (layer, status);
CREATE INDEX memories_unsealed ON memories (tier) WHERE tier <> 'clear' AND sealed IS NULL; -- what a key is to seal
CREATE INDEX memories_by_speaker ON memories (speaker, created_at) WHERE speaker <> '';
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

-- Tags, to be filtered on.
CREATE TABLE memory_tags (
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  tag TEXT NOT NULL, -- one of its tags, in small letters
  PRIMARY KEY (row, tag)
) WITHOUT ROWID;
CREATE INDEX memory_tags_by_tag ON memory_tags (tag, row);

-- Names in the content, to be filtered on.
CREATE TABLE mentions (
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- where the memory is
  name TEXT NOT NULL, -- a name in it, without case
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  PRIMARY KEY (namespace, name, row)
) WITHOUT ROWID;
CREATE INDEX mentions_by_memory ON mentions (row);

-- What memories speak of, to be filtered on: people, days, topics and so on, as `memories.metadata` has them.
CREATE TABLE facets (
  facet TEXT NOT NULL, -- people, technologies, paths, urls, dates, languages, code_languages, topics, sentiment
  value TEXT NOT NULL, -- one of them, without case; of a path or an address also its ends
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  PRIMARY KEY (facet, value, row)
) WITHOUT ROWID;
CREATE INDEX facets_by_memory ON facets (row);

-- What a memory says about something, as subject, predicate and object.
CREATE TABLE facts (
  id INTEGER PRIMARY KEY, -- a number
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory that states it
  subject TEXT NOT NULL, -- lower case
  predicate TEXT NOT NULL, -- lower case
  object TEXT NOT NULL, -- lower case
  functional INTEGER NOT NULL, -- 1 when there is one object at a time
  confidence REAL, -- how sure it is; NULL: as sure as the memory
  valid_from INTEGER, -- since when it holds; NULL: since the memory does
  valid_to INTEGER -- until when it held; NULL: as long as the memory does
);
CREATE INDEX facts_by_subject ON facts (subject, predicate);
CREATE INDEX facts_by_memory ON facts (row);
CREATE INDEX facts_by_object ON facts (object);
CREATE INDEX facts_functional ON facts (subject, predicate, object) WHERE functional = 1; -- where disputes are looked for

-- Who and what is spoken of, inside a namespace. Which memories name it follows from `aliases` and `mentions`.
CREATE TABLE entities (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number, never used again
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- the tree it is known in
  name TEXT NOT NULL, -- the name it is shown by
  type TEXT NOT NULL, -- person, project, technology and so on, or unknown
  first_seen INTEGER NOT NULL, -- when it was spoken of first
  last_seen INTEGER NOT NULL -- when it was spoken of last
);
CREATE INDEX entities_by_time ON entities (namespace, last_seen);

-- Every name of an entity, its own among them. Two entities become one when their aliases point to one.
CREATE TABLE aliases (
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- the tree it is known in
  alias TEXT NOT NULL, -- the name without case, as `mentions` has it
  entity INTEGER NOT NULL REFERENCES entities (id), -- what it is a name of
  name TEXT NOT NULL, -- the name as it was written
  PRIMARY KEY (namespace, alias)
) WITHOUT ROWID;
CREATE INDEX aliases_by_entity ON aliases (entity, alias);

-- The words of each alias that has several: "lovelace" leads to "ada lovelace".
CREATE TABLE alias_words (
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- the tree it is known in
  word TEXT NOT NULL, -- one of its words
  alias TEXT NOT NULL, -- the alias
  PRIMARY KEY (namespace, word, alias)
) WITHOUT ROWID;

-- What a memory is found by: analysed terms, joined by spaces.
CREATE TABLE texts (
  row INTEGER PRIMARY KEY REFERENCES memories (row), -- the memory
  body TEXT NOT NULL, -- terms of the content
  cues TEXT NOT NULL, -- terms that are not in the content but lead to it
  length INTEGER NOT NULL, -- how many terms body and cues have
  wording INTEGER NOT NULL DEFAULT 0 -- by which edition of the rules they were read
);

-- What recall holds in memory follows the file by this: a line is replaced, with a new `seq`, whenever something
-- that recall holds of a memory changes. So "what is new since seq 17" is one short scan.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY, -- grows with each change
  row INTEGER NOT NULL, -- the memory; not a reference: the line outlives an erased memory
  namespace INTEGER NOT NULL, -- number of the memory's namespace
  gone INTEGER NOT NULL, -- 1 when the memory is not there any more
  UNIQUE (row, namespace)
);
CREATE INDEX changes_by_namespace ON changes (namespace, seq);

-- What recall holds in memory, put away: the next process begins with it. Copies only, made anew when missing.
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number, never used again
  namespace INTEGER NOT NULL REFERENCES namespaces (id), -- whose memories
  since INTEGER NOT NULL, -- the changes after this one,
  upto INTEGER NOT NULL, -- up to this one, as they were when it was made
  first INTEGER NOT NULL, -- the lowest row in it
  last INTEGER NOT NULL, -- the highest: erasing a row between drops the block
  body BLOB NOT NULL -- the arrays; words as 32-bit hashes
);
CREATE INDEX blocks_by_namespace ON blocks (namespace, since, upto);

-- Whatever changes a memory, its words or the order of a talk is told to those who follow.
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

-- Which models have made vectors.
CREATE TABLE spaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its number
  key TEXT NOT NULL UNIQUE, -- model/dims/version
  centre BLOB, -- float32: what signatures are centred on; NULL while there are none
  vectors INTEGER NOT NULL DEFAULT 0 -- how many vectors it has
);

-- The vectors. The id is made of space and row (space * 2^40 + row), so that a vector is one look-up away.
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY, -- space * 1099511627776 + row
  scale REAL NOT NULL, -- what a step of the bytes is worth
  vector BLOB NOT NULL -- int8, one byte a dimension
);
CREATE TRIGGER embeddings_added AFTER INSERT ON embeddings BEGIN
  UPDATE spaces SET vectors = vectors + 1 WHERE id = new.id >> 40;
END;
CREATE TRIGGER embeddings_removed AFTER DELETE ON embeddings BEGIN
  UPDATE spaces SET vectors = vectors - 1 WHERE id = old.id >> 40;
END;

-- What an index must know of each vector, in the order of change: a line is replaced, with a new `seq`, whenever
-- the vector, or the status or scope of its memory, changes. So "what is new since seq 17" is one short scan.
CREATE TABLE marks (
  seq INTEGER PRIMARY KEY, -- grows with each change in any space
  row INTEGER NOT NULL, -- the memory; not a reference: the mark outlives an erased memory
  space INTEGER NOT NULL REFERENCES spaces (id), -- the space
  gone INTEGER NOT NULL, -- 1 when the vector was taken away
  namespace INTEGER NOT NULL, -- number of the memory's namespace
  scope INTEGER NOT NULL, -- number of the memory's scope
  status INTEGER NOT NULL, -- position of the memory's status in the list of statuses
  signature BLOB, -- sign bits of the centred, rotated vector; NULL while the space has no centre
  UNIQUE (row, space)
);

-- How memories hang together: read "source, type, target".
CREATE TABLE edges (
  id INTEGER PRIMARY KEY, -- a number
  source INTEGER NOT NULL REFERENCES memories (row), -- from here
  target INTEGER NOT NULL REFERENCES memories (row), -- to here
  type TEXT NOT NULL, -- derived_from, supports, next and so on
  weight REAL NOT NULL, -- 0 to 1
  confidence REAL NOT NULL, -- 0 to 1
  origin TEXT NOT NULL, -- who drew it
  last_reinforced_at INTEGER, -- when it was drawn or confirmed last
  UNIQUE (source, target, type)
);
CREATE INDEX edges_by_target ON edges (target);
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

-- The ledger. It never holds a memory's words: those are in `versions`, which can be erased.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY, -- order of writing
  id TEXT NOT NULL UNIQUE, -- EVT-YYYYMMDD-NNN
  at INTEGER NOT NULL, -- when
  actor TEXT NOT NULL, -- who
  verb TEXT NOT NULL, -- what happened
  memory TEXT NOT NULL, -- id of the memory; not a reference: the event outlives an erased memory
  scope INTEGER NOT NULL REFERENCES scopes (id), -- where the memory belonged then: who may read the event
  because TEXT NOT NULL, -- why; emptied when the memory, or the one it is related to, is erased
  before TEXT NOT NULL, -- JSON object: changed fields as they were, texts as salted digests
  after TEXT NOT NULL, -- JSON object: changed fields as they are
  related TEXT NOT NULL, -- id of the other memory, or empty
  run TEXT NOT NULL DEFAULT '', -- the run of upkeep that did it, or empty
  rule TEXT NOT NULL DEFAULT '', -- the rule that decided it, or empty
  chain BLOB -- SHA-256 over the chain so far and this event without its reason; NULL: from before there was one
);
CREATE INDEX events_by_memory ON events (memory);
CREATE INDEX events_by_run ON events (run) WHERE run <> '';
CREATE INDEX events_by_related ON events (related) WHERE related <> '';
CREATE TRIGGER events_stay
BEFORE UPDATE OF seq, id, at, actor, verb, memory, scope, before, after, related, run, rule ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER reasons_only_go BEFORE UPDATE OF because ON events WHEN new.because <> '' BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER events_stay_there BEFORE DELETE ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;

-- The words that events leave out: earlier and later texts of clear memories, until the memory is erased.
CREATE TABLE versions (
  event INTEGER PRIMARY KEY REFERENCES events (seq), -- the event that changed them
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  before TEXT NOT NULL, -- JSON object: text fields as they were
  after TEXT NOT NULL -- JSON object: text fields as they became
);
CREATE INDEX versions_by_memory ON versions (row);

-- Whether a memory helped, and for which question.
CREATE TABLE feedback (
  id INTEGER PRIMARY KEY, -- a number
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  helpful INTEGER NOT NULL, -- 1 it helped, 0 it did not
  space TEXT NOT NULL, -- key of the question's space, or empty
  vector BLOB, -- the question as float32, or NULL
  at INTEGER NOT NULL -- when it was said
);
CREATE INDEX feedback_by_memory ON feedback (row);

-- Each use of a memory.
CREATE TABLE access_log (
  id INTEGER PRIMARY KEY, -- a number
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  session TEXT NOT NULL, -- the session that used it, or empty
  at INTEGER NOT NULL -- when
);
CREATE INDEX access_log_by_memory ON access_log (row, session);

-- The raw log of conversations: what was said, word for word.
CREATE TABLE turns (
  key INTEGER PRIMARY KEY AUTOINCREMENT, -- its number: grows in the order of logging, never used again
  scope INTEGER NOT NULL REFERENCES scopes (id), -- where it belongs
  session TEXT NOT NULL, -- the conversation
  id TEXT NOT NULL, -- the caller's message id, known once in its session
  part TEXT NOT NULL, -- user, assistant, system, tool
  speaker TEXT NOT NULL, -- a person's name, or empty
  at INTEGER NOT NULL, -- when it was said
  captured_at INTEGER, -- when memories were made of it; NULL while it waits
  content TEXT NOT NULL, -- what was said
  utc_offset INTEGER NOT NULL DEFAULT 0, -- how many minutes the clocks of whoever said it are ahead of UTC
  sealed BLOB, -- its words under the field key, where `content` is only what is left of them; NULL: it is not
  UNIQUE (session, scope, id)
);
CREATE INDEX turns_by_session ON turns (session, scope);
CREATE INDEX turns_waiting ON turns (scope, key, at, captured_at) WHERE captured_at IS NULL; -- what waits is counted in here alone

-- Which turns a memory came from: erasing the memory erases them.
CREATE TABLE turn_memories (
  turn INTEGER NOT NULL REFERENCES turns (key), -- the turn
  row INTEGER NOT NULL REFERENCES memories (row), -- a memory that came from it
  PRIMARY KEY (turn, row)
) WITHOUT ROWID;
CREATE INDEX turn_memories_by_memory ON turn_memories (row, turn);

-- Which part of which file an imported memory came from.
CREATE TABLE origins (
  scope INTEGER NOT NULL REFERENCES scopes (id), -- where it was imported to
  origin TEXT NOT NULL, -- the file and the part of it
  row INTEGER NOT NULL REFERENCES memories (row), -- the memory
  digest TEXT NOT NULL, -- of what the memory was made from
  PRIMARY KEY (scope, origin)
) WITHOUT ROWID;
CREATE INDEX origins_by_memory ON origins (row);

-- Each call to a model. It holds no words.
CREATE TABLE llm_usage (
  id INTEGER PRIMARY KEY, -- a number
  at INTEGER NOT NULL, -- when
  component TEXT NOT NULL, -- what asked
  model TEXT NOT NULL, -- which model answered
  prompt_tokens INTEGER NOT NULL, -- what the question cost
  answer_tokens INTEGER NOT NULL, -- what the answer cost
  ms INTEGER NOT NULL, -- how long it took
  cost REAL NOT NULL, -- estimated US dollars, 0 where the price is not known
  outcome TEXT NOT NULL, -- answered, repaired, unusable, refused, failed
  reason TEXT NOT NULL DEFAULT '' -- why it brought nothing, in words of ours
);
CREATE INDEX llm_usage_by_time ON llm_usage (at, prompt_tokens, answer_tokens);

-- Who may come in from outside, and as whom. The secret itself is kept nowhere.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY, -- a short name to revoke it by
  name TEXT NOT NULL, -- who uses it: the actor of its events
  role TEXT NOT NULL, -- owner, orchestrator, agent, reader
  scope TEXT NOT NULL, -- JSON array: the parts of its place, from the widest to the narrowest
  digest TEXT NOT NULL UNIQUE, -- SHA-256 of the secret
  created_at INTEGER NOT NULL, -- when it was made
  expires_at INTEGER, -- from when it is no longer valid; NULL: never
  revoked_at INTEGER, -- when it was taken back; NULL: it was not
  last_used INTEGER, -- when it was used last, to the minute or so
  timezone TEXT NOT NULL DEFAULT '' -- where its bearer is; empty: as the settings say
) WITHOUT ROWID;

-- How the last recalls went, without their words; only so many are kept.
CREATE TABLE recalls (
  id INTEGER PRIMARY KEY, -- a number
  at INTEGER NOT NULL, -- when
  intent TEXT NOT NULL, -- what the question was after; empty: unclear
  relevance REAL NOT NULL, -- how relevant the best hit was, 0 to 1
  ndcg REAL NOT NULL, -- the order shown against the order by relevance alone
  hits INTEGER NOT NULL, -- how many came back
  ms REAL NOT NULL, -- how long it took
  weak INTEGER NOT NULL, -- 1: nothing worth showing came though there are memories
  gain REAL -- what a tried reranking was worth; NULL: none was tried
);

-- Each run of upkeep.
CREATE TABLE runs (
  id TEXT PRIMARY KEY, -- RUN-YYYYMMDD-NNN
  kind TEXT NOT NULL, -- consolidate, dream, audit
  state TEXT NOT NULL, -- running, done, undone
  actor TEXT NOT NULL, -- who asked for it
  started_at INTEGER NOT NULL, -- the time all its rules look at
  finished_at INTEGER, -- when it was done; NULL: it is not
  step TEXT NOT NULL, -- the step under way: a run that was cut off goes on there
  cursor TEXT NOT NULL -- how far that step has come
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (started_at);

-- What each run decided, for its report. No words of a memory.
CREATE TABLE decisions (
  number INTEGER PRIMARY KEY, -- in order
  run TEXT NOT NULL REFERENCES runs (id), -- the run
  step TEXT NOT NULL, -- the step that decided
  rule TEXT NOT NULL, -- the rule that fired
  memory TEXT NOT NULL, -- id of the memory, or empty; not a reference: it may be erased
  related TEXT NOT NULL, -- id of the other memory, or empty
  outcome TEXT NOT NULL, -- done, left
  why TEXT NOT NULL, -- the numbers behind it
  also TEXT NOT NULL -- JSON object: what was done beside changing records, to be taken back by
);
CREATE INDEX decisions_by_run ON decisions (run, number);
CREATE INDEX decisions_with_names ON decisions (number) WHERE also <> '{}'; -- what erasing looks through

-- What was decided about a memory or a pair, so that it is not asked again.
CREATE TABLE judgements (
  kind TEXT NOT NULL, -- gate, triage, merge, reconcile, undone and so on
  key TEXT NOT NULL, -- which memory in which version, or which pair
  verdict TEXT NOT NULL, -- what was decided
  at INTEGER NOT NULL, -- when
  again_at INTEGER, -- when it may be asked again; NULL: never
  times INTEGER NOT NULL, -- how often it was decided so
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

-- What was worked out from memories and can be worked out anew: profiles, maps, trees.
CREATE TABLE sketches (
  id INTEGER PRIMARY KEY, -- a number
  scope INTEGER NOT NULL REFERENCES scopes (id), -- the place whose memories it was made of
  kind TEXT NOT NULL, -- profile, map, tree and so on
  key TEXT NOT NULL, -- which of its kind
  title TEXT NOT NULL, -- a name for people, or empty
  run TEXT NOT NULL, -- the run that made it, or empty
  made_at INTEGER NOT NULL, -- when
  body TEXT NOT NULL, -- JSON object
  UNIQUE (kind, scope, key)
);

-- Which memories a sketch has words of: erasing one takes the sketch with it.
CREATE TABLE sketch_sources (
  sketch INTEGER NOT NULL REFERENCES sketches (id), -- the sketch
  row INTEGER NOT NULL REFERENCES memories (row), -- a memory it was made of
  PRIMARY KEY (sketch, row)
) WITHOUT ROWID;
CREATE INDEX sketch_sources_by_memory ON sketch_sources (row, sketch);

-- Words in a message that load pages into the recall pack.
CREATE TABLE triggers (
  id TEXT PRIMARY KEY, -- what callers know it by
  scope TEXT NOT NULL, -- JSON list of the parts of the place whose messages it looks at
  words TEXT NOT NULL, -- JSON list: one of these is said
  pages TEXT NOT NULL, -- JSON list: these are loaded
  created_at INTEGER NOT NULL -- when it was made
);

-- Sessions that sleep: what was on their mind, sealed.
CREATE TABLE snapshots (
  id INTEGER PRIMARY KEY, -- a number
  scope TEXT NOT NULL, -- JSON list of the parts of its place
  session TEXT NOT NULL, -- the session's id, as its caller knows it
  agent TEXT NOT NULL, -- whose session it is, or empty
  model TEXT NOT NULL, -- the language model it ran with, or empty
  saved_at INTEGER NOT NULL, -- when it went to sleep
  turns INTEGER NOT NULL, -- messages it had heard
  slots INTEGER NOT NULL, -- how much was on its mind
  memories TEXT NOT NULL, -- JSON list of ids of memories it has words of; not references: they may be erased
  body BLOB NOT NULL, -- everything else, sealed with a key that is not in this file
  awake INTEGER NOT NULL DEFAULT 0, -- 1 while an engine has it in mind: another that is asked goes on from here
  UNIQUE (scope, session)
);

-- Memories that agents offer to others; one offer a memory, the latest.
CREATE TABLE publications (
  number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of publishing, never used again
  id TEXT NOT NULL UNIQUE, -- what it is known by
  row INTEGER NOT NULL UNIQUE REFERENCES memories (row), -- the memory
  agent TEXT NOT NULL, -- who offers it
  region TEXT NOT NULL, -- JSON array: the parts of the place whose subscribers may receive it
  agents TEXT NOT NULL, -- JSON array: only these agents; empty: all
  topics TEXT NOT NULL, -- JSON array: what it is about
  importance REAL NOT NULL, -- how important the memory was then
  clock TEXT NOT NULL, -- JSON object: how many changes of each agent it has seen
  published_at INTEGER NOT NULL -- when
);

-- What agents want to hear of.
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY, -- what it is known by
  agent TEXT NOT NULL, -- who wants it
  scope INTEGER NOT NULL REFERENCES scopes (id), -- where copies are put
  topics TEXT NOT NULL, -- JSON array: one of these; empty: all
  agents TEXT NOT NULL, -- JSON array: only from these; empty: from all
  min_importance REAL NOT NULL, -- nothing less important
  rate INTEGER NOT NULL, -- copies in one delivery at most
  place INTEGER NOT NULL, -- number of the publication looked at last
  made_at INTEGER NOT NULL -- when
) WITHOUT ROWID;

-- Copies that were delivered. Erasing the original erases them.
CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY REFERENCES memories (row), -- the copy
  origin TEXT NOT NULL, -- id of the memory it is a copy of
  publication TEXT NOT NULL, -- the offer
  subscription TEXT NOT NULL, -- the wish
  clock TEXT NOT NULL, -- JSON object: what the copy had seen then
  version INTEGER NOT NULL -- the copy's version then
);
CREATE INDEX deliveries_by_origin ON deliveries (origin);

-- Answers to writes that carried a key, for a while: the same write is answered again, not carried out again.
CREATE TABLE answers (
  caller TEXT NOT NULL, -- who wrote
  key TEXT NOT NULL, -- the key of the write, as the caller gave it
  mark TEXT NOT NULL, -- SHA-256 of the request
  status INTEGER NOT NULL, -- the status it was answered with
  sealed BLOB NOT NULL, -- the answer, sealed with a key made of the request, which is not in this file
  at INTEGER NOT NULL, -- when it was answered
  PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers (at);

-- Who looked, and who was not let: what the ledger of changes does not tell. Ids and digests, never words. It is kept
-- for so many days; the numbers have no gap, so that a line that was taken out shows.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY, -- order of writing
  at INTEGER NOT NULL, -- when
  actor TEXT NOT NULL, -- who
  what TEXT NOT NULL, -- opened, read, denied, limited, exported and so on
  subject TEXT NOT NULL, -- id of a memory or a token, or a digest, or empty
  counts TEXT NOT NULL, -- JSON object: how many of what
  chain BLOB NOT NULL -- SHA-256 over the chain so far and this line
);
