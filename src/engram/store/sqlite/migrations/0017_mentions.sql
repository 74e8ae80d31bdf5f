-- A name is looked up in its namespace: what others call so is not gone through.
CREATE TABLE named_before (
  namespace INTEGER NOT NULL,
  name TEXT NOT NULL,
  row INTEGER NOT NULL
);
INSERT INTO named_before (namespace, name, row)
SELECT s.namespace, t.name, t.row
FROM mentions AS t
JOIN memories AS m ON m.row = t.row
JOIN scopes AS s ON s.id = m.scope;
DROP TABLE mentions;
CREATE TABLE mentions (
  namespace INTEGER NOT NULL REFERENCES namespaces (id),
  name TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES memories (row),
  PRIMARY KEY (namespace, name, row)
) WITHOUT ROWID;
INSERT INTO mentions (namespace, name, row)
SELECT namespace, name, row
FROM named_before
ORDER BY namespace, name, row;
DROP TABLE named_before;
CREATE INDEX mentions_by_memory ON mentions (row);
