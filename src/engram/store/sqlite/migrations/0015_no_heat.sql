-- How much a memory is in use follows from its uses and the time: it is worked out, never stored.
ALTER TABLE memories DROP COLUMN heat;
