-- A tag is found however it is written: the list that filters look into is in small letters.
INSERT OR IGNORE INTO memory_tags (row, tag)
SELECT row, lower(tag)
FROM memory_tags
WHERE tag <> lower(tag);
DELETE FROM memory_tags
WHERE tag <> lower(tag);
