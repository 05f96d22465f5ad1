-- Every key leads with the tenant's name, and no number is global to the database:
-- so what belongs to a tenant can be told apart, moved and spread.
--
-- Three tables hold all that grows with the turns, in sixteen hash partitions each.
-- A conversation's turns and runs lie in partitions of one number, which may be
-- foreign tables on another server; docs/scaling.md shows how. A table with a primary
-- key can have no such partition, so each partition of these two has its own.

CREATE TABLE tenants (
    tenant text COLLATE "C" PRIMARY KEY,
    head   bigint NOT NULL, -- the newest sequence number
    writer uuid   NOT NULL  -- the last write that moved the head: whoever lost the answer to a commit finds it here
) WITH (fillfactor = 50);   -- the one row that every write changes; its versions fit into its page

-- What selection needs, in runs of consecutive turns of a conversation.
CREATE TABLE runs (
    tenant       text COLLATE "C" NOT NULL,
    conversation uuid    NOT NULL,
    last         bigint  NOT NULL, -- the sequence number of the run's last turn
    turns        integer NOT NULL, -- how many there are
    run          bytea   NOT NULL  -- packed, see package packed
) PARTITION BY HASH (tenant, conversation);
CREATE INDEX runs_by_last ON runs (tenant, last);

-- The whole record. A turn's row is written once; only an erasure changes it.
CREATE TABLE turns (
    tenant       text COLLATE "C" NOT NULL,
    conversation uuid   NOT NULL,
    seq          bigint NOT NULL,
    kept         bytea  NOT NULL, -- packed, see package packed
    name         bytea,           -- 8 bytes of the external id if that is a digest, else of its SHA-256
    salt         bytea,           -- a byte of 0: the body never came; NULL: it is gone since
    external     bytea,
    body         bytea,           -- canonical; NULL: there is none, see salt
    key          bytea            -- the credential that brought the turn: the id of an API key, or jwt: and a subject; NULL: none did
) PARTITION BY HASH (tenant, conversation);
CREATE INDEX turns_by_seq ON turns (tenant, seq);
CREATE INDEX turns_by_name ON turns (tenant, name) WHERE name IS NOT NULL;

CREATE TABLE ids (
    tenant       text COLLATE "C" NOT NULL,
    id           uuid   NOT NULL,
    conversation uuid   NOT NULL,
    seq          bigint NOT NULL,
    PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant, id);

DO $$
BEGIN
    FOR n IN 0..15 LOOP
        EXECUTE format('CREATE TABLE runs_%s PARTITION OF runs (PRIMARY KEY (tenant, conversation, last)) FOR VALUES WITH (MODULUS 16, REMAINDER %s)', lpad(n::text, 2, '0'), n);
        EXECUTE format('CREATE TABLE turns_%s PARTITION OF turns (PRIMARY KEY (tenant, conversation, seq)) FOR VALUES WITH (MODULUS 16, REMAINDER %s)', lpad(n::text, 2, '0'), n);
        EXECUTE format('CREATE TABLE ids_%s PARTITION OF ids FOR VALUES WITH (MODULUS 16, REMAINDER %s)', lpad(n::text, 2, '0'), n);
        -- Hashes do not compress, and a run is always read whole.
        EXECUTE format('ALTER TABLE runs_%s ALTER COLUMN run SET STORAGE EXTERNAL', lpad(n::text, 2, '0'));
        -- Dead rows of turns come from erasures alone: one is enough to be cleaned away.
        EXECUTE format('ALTER TABLE turns_%s SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 0, toast.autovacuum_vacuum_scale_factor = 0)', lpad(n::text, 2, '0'));
    END LOOP;
END $$;

-- One row for each tenant on each other server that has partitions, changed by every write
-- of the tenant: so a write waits for an earlier one that has not ended there. The
-- partitions are foreign tables, one for each server; where nothing is spread there is none.
CREATE TABLE guards (
    tenant text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL, -- as the primary calls it
    writes bigint NOT NULL            -- how many there were: what matters is that it changes
) PARTITION BY LIST (server);

-- Edges into other conversations than the parent's own, from the parent's side.
CREATE TABLE links (
    tenant              text COLLATE "C" NOT NULL,
    parent_conversation uuid   NOT NULL,
    seq                 bigint NOT NULL, -- of the child
    link                bytea  NOT NULL, -- packed, see package packed
    PRIMARY KEY (tenant, parent_conversation, seq, link)
);

CREATE TABLE conversations (
    tenant       text COLLATE "C" NOT NULL,
    conversation uuid    NOT NULL,
    turns        bigint  NOT NULL,
    first        bigint  NOT NULL,
    last         bigint  NOT NULL,
    first_at     bigint  NOT NULL,
    last_at      bigint  NOT NULL,
    PRIMARY KEY (tenant, conversation)
) WITH (fillfactor = 80);

-- The ledger of each tenant: an append-only Merkle tree, see package ledger. A leaf is
-- appended in the transaction of its act, so these tables stay with the tenants' rows: on
-- another server the commit would be an act of its own. They have no partitions: they grow
-- with what is handed out, not with the turns, and at their ends alone.

CREATE TABLE logs (
    tenant text COLLATE "C" PRIMARY KEY,
    size   bigint NOT NULL, -- how many leaves there are
    edge   bytea  NOT NULL  -- the roots of the perfect subtrees, all that it takes to append
) WITH (fillfactor = 50);   -- changed with every leaf; its versions fit into its page

CREATE TABLE records (
    tenant text COLLATE "C" NOT NULL,
    n      bigint NOT NULL, -- the index of the leaf: from 0 on, without a gap
    kind   text COLLATE "C" NOT NULL,
    leaf   bytea  NOT NULL, -- canonical JSON, no content in it
    detail bytea,           -- what is kept beside it and is not in it; NULL for nothing
    private bytea,          -- what can be erased; NULL for nothing
    PRIMARY KEY (tenant, n)
);

-- The hashes that tiles are made of: of the leaves, and the root over each 256 of the
-- level below. Those between follow from them.
CREATE TABLE log_hashes (
    tenant text COLLATE "C" NOT NULL,
    level  smallint NOT NULL,
    n      bigint   NOT NULL,
    hash   bytea    NOT NULL,
    PRIMARY KEY (tenant, level, n)
);

-- Named values that are replaced as a whole, such as what a witness cosigned last of other logs.
CREATE TABLE cells (
    tenant text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    value  bytea NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- What is known beside the turns, by number. See package history.
--
-- These two have no partitions. On another server, as those of turns may be, they could not
-- lie: the commit there would be an act of its own, and an entry ends terms of older ones, so
-- what a torn one left behind could not be told by a number above the head and taken away. On
-- one server partitions would save no work, since each look-up descends one index, and would
-- cost some: every statement opens all sixteen of them, and a traversal asks one for each hop.
CREATE TABLE entries (
    tenant text COLLATE "C" NOT NULL,
    seq    bigint NOT NULL,
    kind   text COLLATE "C" NOT NULL,
    at     bigint NOT NULL,
    leaf   bigint NOT NULL, -- the first 8 bytes of the leaf
    public bytea  NOT NULL, -- canonical, in the form of its kind
    detail bytea,           -- what is kept beside it and is not in it; NULL for nothing
    private bytea,          -- what can be erased; NULL for nothing
    part   bigint NOT NULL, -- where the entry is in its change: part 2 of 3; 0 of 0 is the entry of a change of one
    parts  bigint NOT NULL,
    PRIMARY KEY (tenant, seq)
);

-- The indexes by which entries are found, all of them in one table. What ends changes in its
-- page, since no index has the column: hence the room there.
CREATE TABLE terms (
    tenant text COLLATE "C" NOT NULL,
    indx   smallint NOT NULL,
    key    bytea    NOT NULL,
    since  bigint   NOT NULL, -- entries.seq
    until  bigint   NOT NULL, -- the number before which it counts
    value  bytea    NOT NULL,
    PRIMARY KEY (tenant, indx, key, since)
) WITH (fillfactor = 90);

-- What is derived from the rest, and may be dropped. It is written packed. A snapshot may hold what follows from a text: so one
-- dead row is enough to be cleaned away, as it is with turns.
CREATE TABLE snapshots (
    tenant text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    value  bytea NOT NULL,
    PRIMARY KEY (tenant, name)
) WITH (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 0, toast.autovacuum_vacuum_scale_factor = 0);
ALTER TABLE snapshots ALTER COLUMN value SET STORAGE EXTERNAL;
