-- What is known beside the turns: the acts of package knowledge, by their numbers.
CREATE TABLE acts (
    tenant    INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    act       TEXT NOT NULL,    -- canonical JSON
    statement INTEGER,          -- the first 8 bytes of the statement's digest; NULL: it is about an alias
    leaf      INTEGER NOT NULL, -- the first 8 bytes of the act's leaf
    opened    INTEGER NOT NULL, -- of an assertion that began a version: since when the statement is believed; else 0
    until     INTEGER NOT NULL, -- and before which number the version counts; else 0
    PRIMARY KEY (tenant, seq)
) WITHOUT ROWID;
CREATE INDEX acts_by_statement ON acts (tenant, statement, until, leaf);

-- Each version from both of its ends, in the order in which a traversal reads them.
CREATE TABLE edges (
    tenant      INTEGER NOT NULL,
    name        TEXT NOT NULL,
    incoming    INTEGER NOT NULL, -- 0: name is the subject, 1: the object
    doubt       INTEGER NOT NULL, -- 1 000 000 less the confidence
    statement   BLOB NOT NULL,
    since       INTEGER NOT NULL, -- acts.seq
    until       INTEGER NOT NULL, -- acts.until
    predicate   TEXT NOT NULL,
    other       TEXT NOT NULL,
    valid_from  INTEGER NOT NULL,
    valid_until INTEGER NOT NULL,
    source      TEXT NOT NULL,
    turn        BLOB,
    PRIMARY KEY (tenant, name, incoming, doubt, statement, since)
) WITHOUT ROWID;
