-- A session that is awake in one of several engines of a database is kept after each turn: another may go on with it.
ALTER TABLE snapshots ADD COLUMN awake INTEGER NOT NULL DEFAULT 0;
