-- Which turns a key may bring: roles, and patterns of authors. '' is the default.
ALTER TABLE api_keys ADD COLUMN roles text NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN authors bytea NOT NULL DEFAULT '';
