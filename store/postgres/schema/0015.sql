-- Where an entry is in its change: part 2 of 3. 0 of 0 is the entry of a change of one, and every entry from before.
ALTER TABLE entries ADD COLUMN part bigint NOT NULL DEFAULT 0, ADD COLUMN parts bigint NOT NULL DEFAULT 0;

-- The index of contexts that were not given had a number of the record's indexes.
UPDATE terms SET indx = 124 WHERE indx = 143;
