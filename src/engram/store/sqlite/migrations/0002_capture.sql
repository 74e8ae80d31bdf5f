-- Capture: the raw log, where imports came from, what models cost, how long facts held, who and what is spoken of.
-- What each column means stands in ../schema.sql.

CREATE TABLE turns (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  session TEXT NOT NULL,
  id TEXT NOT NULL,
  part TEXT NOT NULL,
  speaker TEXT NOT NULL,
  at INTEGER NOT NULL,
  captured_at INTEGER,
  content TEXT NOT NULL,
  UNIQUE (session, scope, id)
);
CREATE INDEX turns_by_session ON turns (session, scope);
CREATE INDEX turns_waiting ON turns (scope, key, at, captured_at) WHERE captured_at IS NULL;

CREATE TABLE turn_memories (
  turn INTEGER NOT NULL REFERENCES turns (key),
  row INTEGER NOT NULL REFERENCES memories (row),
  PRIMARY KEY (turn, row)
) WITHOUT ROWID;
CREATE INDEX turn_memories_by_memory ON turn_memories (row, turn);

CREATE TABLE origins (
  scope INTEGER NOT NULL REFERENCES scopes (id),
  origin TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES memories (row),
  digest TEXT NOT NULL,
  PRIMARY KEY (scope, origin)
) WITHOUT ROWID;
CREATE INDEX origins_by_memory ON origins (row);

CREATE TABLE llm_usage (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  component TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  answer_tokens INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  cost REAL NOT NULL,
  outcome TEXT NOT NULL
);
CREATE INDEX llm_usage_by_time ON llm_usage (at, prompt_tokens, answer_tokens);

ALTER TABLE memories ADD COLUMN metadata TEXT;
CREATE TABLE facets (
  facet TEXT NOT NULL,
  value TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES memories (row),
  PRIMARY KEY (facet, value, row)
) WITHOUT ROWID;
CREATE INDEX facets_by_memory ON facets (row);

ALTER TABLE facts ADD COLUMN confidence REAL;
ALTER TABLE facts ADD COLUMN valid_from INTEGER;
ALTER TABLE facts ADD COLUMN valid_to INTEGER;
CREATE INDEX facts_by_object ON facts (object);
CREATE INDEX facts_functional ON facts (subject, predicate, object) WHERE functional = 1;

CREATE TABLE entities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL
);
CREATE INDEX entities_by_time ON entities (namespace, last_seen);

CREATE TABLE aliases (
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  alias TEXT NOT NULL,
  entity INTEGER NOT NULL REFERENCES entities (id),
  name TEXT NOT NULL,
  PRIMARY KEY (namespace, alias)
) WITHOUT ROWID;
CREATE INDEX aliases_by_entity ON aliases (entity, alias);

CREATE TABLE alias_words (
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  word TEXT NOT NULL,
  alias TEXT NOT NULL,
  PRIMARY KEY (namespace, word, alias)
) WITHOUT ROWID;

-- Every name that is mentioned already becomes an entity, written as its latest memory writes it.
CREATE TEMP TABLE named AS
SELECT
  row_number() OVER (ORDER BY s.namespace, t.name) AS id,
  s.namespace AS namespace,
  t.name AS alias,
  max(t.row) AS latest,
  min(coalesce(m.event_time, m.created_at)) AS first_seen,
  max(coalesce(m.event_time, m.created_at)) AS last_seen
FROM mentions AS t
JOIN memories AS m ON m.row = t.row
JOIN scopes AS s ON s.id = m.scope
GROUP BY s.namespace, t.name;

INSERT INTO entities (id, namespace, name, type, first_seen, last_seen)
SELECT
  n.id,
  n.namespace,
  coalesce((SELECT j.value FROM json_each(m.entities) AS j WHERE lower(j.value) = n.alias), n.alias),
  'unknown',
  n.first_seen,
  n.last_seen
FROM temp.named AS n
JOIN memories AS m ON m.row = n.latest;

INSERT INTO aliases (namespace, alias, entity, name)
SELECT n.namespace, n.alias, n.id, e.name
FROM temp.named AS n
JOIN entities AS e ON e.id = n.id;

INSERT OR IGNORE INTO alias_words (namespace, word, alias)
WITH RECURSIVE
  parts (namespace, alias, word, rest) AS (
    SELECT namespace, alias, '', replace(replace(replace(replace(alias, '-', ' '), '_', ' '), '.', ' '), '/', ' ') || ' '
    FROM temp.named
    UNION ALL
    SELECT namespace, alias, substr(rest, 1, instr(rest, ' ') - 1), substr(rest, instr(rest, ' ') + 1)
    FROM parts
    WHERE rest <> ''
  )
SELECT namespace, word, alias
FROM parts
WHERE word <> ''
  AND word <> alias;

DROP TABLE temp.named;
