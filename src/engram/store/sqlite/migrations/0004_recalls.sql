-- How the last recalls went.
-- What each column means stands in ../schema.sql.

CREATE TABLE recalls (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  intent TEXT NOT NULL,
  relevance REAL NOT NULL,
  ndcg REAL NOT NULL,
  hits INTEGER NOT NULL,
  ms REAL NOT NULL,
  weak INTEGER NOT NULL,
  gain REAL
);
