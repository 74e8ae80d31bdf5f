-- Where whoever speaks is: it tells what "yesterday" means.
-- What each column means stands in ../schema.sql.

ALTER TABLE turns ADD COLUMN utc_offset INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN timezone TEXT NOT NULL DEFAULT '';
