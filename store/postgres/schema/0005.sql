-- What is known beside the turns: the acts of package knowledge, by their numbers, and the
-- edges that follow from them.
--
-- They have no partitions. On another server, as those of turns may be, they could not lie:
-- the commit there would be an act of its own, and an act changes older rows, so what a torn
-- one left behind could not be told by a number above the head and taken away. On one
-- server partitions would save no work, since each look-up descends one index, and would cost
-- some: every statement opens all sixteen of them, and a traversal asks one for each hop.
-- These tables grow with what is learned, which is less than what is said.

CREATE TABLE acts (
    tenant    text COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,
    at        bigint NOT NULL,
    opened    bigint NOT NULL, -- of an assertion that began a version: since when the statement is believed; else 0
    until     bigint NOT NULL, -- and before which number the version counts; else 0
    statement bigint,          -- the first 8 bytes of the statement's digest; NULL: it is about an alias
    leaf      bigint NOT NULL, -- the first 8 bytes of the act's leaf
    act       text   NOT NULL, -- canonical JSON; its escapes may be of U+0000, which functions on JSON refuse
    PRIMARY KEY (tenant, seq)
);
-- A statement may have any number of assertions, and the same one again after each end: with
-- all four it is one step to whether this one counts already.
CREATE INDEX acts_by_statement ON acts (tenant, statement, leaf, seq) WHERE statement IS NOT NULL;
CREATE INDEX acts_believed ON acts (tenant, statement) WHERE until = 9007199254740991;
CREATE INDEX acts_of_aliases ON acts (tenant, seq) WHERE statement IS NULL;

-- Each version from both of its ends, in the order in which a traversal reads them. What ends
-- changes in its page, since no index has the column: hence the room there.
CREATE TABLE edges (
    tenant      text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    incoming    boolean NOT NULL, -- false: name is the subject; true: the object
    doubt       integer NOT NULL, -- 1 000 000 less the confidence
    statement   bytea   NOT NULL,
    since       bigint  NOT NULL, -- acts.seq
    until       bigint  NOT NULL, -- acts.until
    valid_from  bigint  NOT NULL,
    valid_until bigint  NOT NULL,
    turn        uuid,
    predicate   text COLLATE "C" NOT NULL,
    other       text COLLATE "C" NOT NULL,
    source      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, name, incoming, doubt, statement, since)
) WITH (fillfactor = 90);
