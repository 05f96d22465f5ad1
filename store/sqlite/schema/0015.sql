-- From this schema on the pages of the file have checksums. Those of an older file get them before this is applied.

-- Where an entry is in its change: part 2 of 3. 0 of 0 is the entry of a change of one, and every entry from before.
ALTER TABLE entries ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;

-- The index of contexts that were not given had a number of the record's indexes.
UPDATE terms SET indx = 124 WHERE indx = 143;
