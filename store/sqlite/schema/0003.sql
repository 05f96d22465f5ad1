-- The ledger: its size and its right edge, which is all that appending reads.
CREATE TABLE logs (
    tenant INTEGER PRIMARY KEY,
    size   INTEGER NOT NULL,
    edge   BLOB NOT NULL -- 32 bytes for each bit of the size that is set
);

CREATE TABLE log_leaves (
    tenant INTEGER NOT NULL,
    n      INTEGER NOT NULL, -- from 0 on, without a gap
    leaf   BLOB NOT NULL,    -- canonical JSON, no content in it
    PRIMARY KEY (tenant, n)
) WITHOUT ROWID;

-- The hashes that tiles are made of: of 256^level leaves each.
CREATE TABLE log_hashes (
    tenant INTEGER NOT NULL,
    level  INTEGER NOT NULL,
    n      INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (tenant, level, n)
) WITHOUT ROWID;

-- Where the leaf of an issued slice stands, which is most of a ledger: its bundle leads here
-- anyway. Of the rows that were there before, the migration sets it.
ALTER TABLE issued ADD COLUMN leaf INTEGER NOT NULL DEFAULT -1;

-- Where the other leaves stand, and those that came before their records, as a copy's do. This
-- index grows all over: half of its price is saved by holding a part of the hash; the whole
-- of it is in log_hashes.
CREATE TABLE log_index (
    tenant INTEGER NOT NULL,
    prefix INTEGER NOT NULL, -- the first 8 bytes of the leaf's hash
    n      INTEGER NOT NULL,
    PRIMARY KEY (tenant, prefix, n)
) WITHOUT ROWID;

-- What the tenant, as a witness, cosigned last of other logs.
CREATE TABLE witnessed (
    tenant INTEGER NOT NULL,
    origin TEXT NOT NULL,
    size   INTEGER NOT NULL,
    root   BLOB NOT NULL,
    PRIMARY KEY (tenant, origin)
) WITHOUT ROWID;
