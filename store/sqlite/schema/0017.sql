-- The tenant's name is interned: every other table leads with its number.
CREATE TABLE tenants (
    tenant INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    head   INTEGER NOT NULL -- the newest sequence number
);

-- What selection needs, in runs of consecutive turns of a conversation: so a
-- conversation of a hundred thousand turns is read in some two hundred rows.
CREATE TABLE runs (
    tenant       INTEGER NOT NULL,
    conversation BLOB NOT NULL,
    last         INTEGER NOT NULL, -- the sequence number of the run's last turn
    turns        INTEGER NOT NULL, -- how many there are
    run          BLOB NOT NULL,    -- packed, see the package documentation
    PRIMARY KEY (tenant, conversation, last)
) WITHOUT ROWID;

CREATE TABLE ids (
    tenant INTEGER NOT NULL,
    id     BLOB NOT NULL,
    turn   INTEGER NOT NULL, -- turns.turn
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- The whole record, the skeleton again within it: so a turn is found in two
-- look-ups and a scan takes none.
-- Rows are appended with ascending keys and later only made smaller. So SQLite
-- never moves one, and erasing it leaves no copy behind.
CREATE TABLE turns (
    turn     INTEGER PRIMARY KEY,
    tenant   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    kept     BLOB NOT NULL, -- packed, see the package documentation
    name     BLOB,          -- 8 bytes of the external id if that is a digest, else of its SHA-256
    salt     BLOB,          -- a byte of 0: the body never came; NULL: it is gone since
    external BLOB,
    body     BLOB,          -- canonical; NULL: there is none, see salt
    key      BLOB           -- the credential that brought the turn: the id of an API key, or jwt: and a subject; NULL: none did
);
CREATE UNIQUE INDEX turns_by_seq ON turns (tenant, seq);
CREATE INDEX turns_by_name ON turns (tenant, name) WHERE name IS NOT NULL;

-- Edges into other conversations than the parent's own, from the parent's side.
CREATE TABLE links (
    tenant              INTEGER NOT NULL,
    parent_conversation BLOB NOT NULL,
    seq                 INTEGER NOT NULL, -- of the child
    link                BLOB NOT NULL,    -- packed, see the package documentation
    PRIMARY KEY (tenant, parent_conversation, seq, link)
) WITHOUT ROWID;

CREATE TABLE conversations (
    tenant       INTEGER NOT NULL,
    conversation BLOB NOT NULL,
    turns        INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    last         INTEGER NOT NULL,
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation)
) WITHOUT ROWID;

-- The ledger: its size and its right edge, which is all that appending reads.
CREATE TABLE logs (
    tenant INTEGER PRIMARY KEY,
    size   INTEGER NOT NULL,
    edge   BLOB NOT NULL -- 32 bytes for each bit of the size that is set
);

-- Rows are appended and later only made smaller, as those of turns.
CREATE TABLE records (
    record  INTEGER PRIMARY KEY,
    tenant  INTEGER NOT NULL,
    n       INTEGER NOT NULL, -- the index of the leaf: from 0 on, without a gap
    kind    TEXT NOT NULL,
    leaf    BLOB NOT NULL,    -- canonical JSON, no content in it
    detail  BLOB,             -- what is kept beside it and is not in it; NULL for nothing
    private BLOB              -- what can be erased; NULL for nothing
);
CREATE UNIQUE INDEX records_by_n ON records (tenant, n);

-- The hashes that tiles are made of: of 256^level leaves each.
CREATE TABLE log_hashes (
    tenant INTEGER NOT NULL,
    level  INTEGER NOT NULL,
    n      INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (tenant, level, n)
) WITHOUT ROWID;

-- Named values that are replaced as a whole, such as what a witness cosigned last of other logs.
CREATE TABLE cells (
    tenant INTEGER NOT NULL,
    name   TEXT NOT NULL,
    value  BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- What is known beside the turns, by number. See package history.
-- Rows are appended and later only made smaller, as those of turns.
CREATE TABLE entries (
    entry   INTEGER PRIMARY KEY,
    tenant  INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    leaf    INTEGER NOT NULL, -- the first 8 bytes of the leaf
    public  BLOB NOT NULL,    -- canonical, in the form of its kind
    detail  BLOB,             -- what is kept beside it and is not in it; NULL for nothing
    private BLOB,             -- what can be erased; NULL for nothing
    part    INTEGER NOT NULL, -- where the entry is in its change: part 2 of 3; 0 of 0 is the entry of a change of one
    parts   INTEGER NOT NULL
);
CREATE UNIQUE INDEX entries_by_seq ON entries (tenant, seq);

-- The indexes by which entries are found, all of them in one table. Its rows are moved about, and
-- copies of them may stay in the file when they are gone: so they hold nothing that can be erased.
CREATE TABLE terms (
    tenant INTEGER NOT NULL,
    indx   INTEGER NOT NULL,
    key    BLOB NOT NULL,
    since  INTEGER NOT NULL, -- entries.seq
    until  INTEGER NOT NULL, -- the number before which it counts
    value  BLOB NOT NULL,
    PRIMARY KEY (tenant, indx, key, since)
) WITHOUT ROWID;

-- What is derived from the rest, and may be dropped. Rows are appended and later only emptied, as those of turns: what
-- replaces a value has a row of its own.
CREATE TABLE snapshots (
    snapshot INTEGER PRIMARY KEY,
    tenant   INTEGER NOT NULL,
    name     TEXT,         -- NULL: it was dropped
    value    BLOB NOT NULL -- empty if it was
);
CREATE UNIQUE INDEX snapshots_by_name ON snapshots (tenant, name) WHERE name IS NOT NULL;
