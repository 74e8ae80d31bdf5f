-- Why a call to a model brought nothing: whoever configured it is told.
-- What each column means stands in ../schema.sql.

ALTER TABLE llm_usage ADD COLUMN reason TEXT NOT NULL DEFAULT '';
