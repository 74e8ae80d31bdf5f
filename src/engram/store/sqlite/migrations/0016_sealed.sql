-- Words that are sensitive are sealed under a key of their own, where there is one.
ALTER TABLE memories ADD COLUMN sealed BLOB;
ALTER TABLE turns ADD COLUMN sealed BLOB;
CREATE INDEX memories_unsealed ON memories (tier) WHERE tier <> 'clear' AND sealed IS NULL;

-- Who looked, and who was not let.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  what TEXT NOT NULL,
  subject TEXT NOT NULL,
  counts TEXT NOT NULL,
  chain BLOB NOT NULL
);
