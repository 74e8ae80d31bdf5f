-- Each event is chained to the one before: one that was changed or taken out shows.
ALTER TABLE events ADD COLUMN chain BLOB;
