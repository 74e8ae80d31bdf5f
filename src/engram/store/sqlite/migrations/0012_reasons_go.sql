-- A reason may repeat words of a memory: it goes with them when they are erased. Nothing else of an event ever changes.
-- What each column means stands in ../schema.sql.

CREATE INDEX events_by_related ON events (related) WHERE related <> '';

DROP TRIGGER events_stay;
CREATE TRIGGER events_stay
BEFORE UPDATE OF seq, id, at, actor, verb, memory, scope, before, after, related, run, rule ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER reasons_only_go BEFORE UPDATE OF because ON events WHEN new.because <> '' BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
