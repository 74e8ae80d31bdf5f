-- Words in a message that load pages into the recall pack.
-- What each column means stands in ../schema.sql.

CREATE TABLE triggers (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  words TEXT NOT NULL,
  pages TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX memories_first ON memories (created_at) WHERE priority = 'P0';
