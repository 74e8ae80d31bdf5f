-- By which edition of the rules a memory's words were read: what an older one read is read again.
ALTER TABLE texts ADD COLUMN wording INTEGER NOT NULL DEFAULT 0;
