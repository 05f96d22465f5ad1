-- The tenant's name is interned: every other table leads with its number.
CREATE TABLE tenants (
    tenant INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    head   INTEGER NOT NULL, -- the newest sequence number
    issued INTEGER NOT NULL  -- the number of the newest issued slice
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
    name     BLOB,          -- 8 bytes of SHA-256 of the external id
    salt     BLOB,          -- a byte of 0: the body never came; NULL: it is gone since
    external BLOB,
    body     BLOB           -- canonical; NULL: there is none, see salt
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

CREATE TABLE events (
    tenant INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    turn   BLOB NOT NULL,
    reason BLOB NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_turn ON events (tenant, kind, turn);

CREATE TABLE policies (
    tenant    INTEGER NOT NULL,
    policy    TEXT NOT NULL,
    hash      BLOB NOT NULL,
    canonical BLOB NOT NULL,
    PRIMARY KEY (tenant, policy)
) WITHOUT ROWID;

CREATE TABLE issued (
    tenant      INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    slice       TEXT NOT NULL,
    anchor      BLOB NOT NULL,
    policy      TEXT NOT NULL,
    policy_hash BLOB NOT NULL,
    snapshot    BLOB NOT NULL,
    version     TEXT NOT NULL,
    as_of       INTEGER NOT NULL,
    key         TEXT NOT NULL,
    token       TEXT NOT NULL,
    bundle      BLOB NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (tenant, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX issued_by_bundle ON issued (tenant, bundle);
CREATE INDEX issued_by_slice ON issued (tenant, slice, number);
