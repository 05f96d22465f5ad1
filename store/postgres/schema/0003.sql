-- The ledger of each tenant: an append-only Merkle tree, see package ledger. A leaf is
-- appended in the transaction of its act, so these tables stay with the tenants' rows: on
-- another server the commit would be an act of its own. They have no partitions: they grow
-- with what is handed out, not with the turns, and but for log_index at their ends alone.

-- Before anything else, so that nobody waits for what this waits for: until the migration
-- ends no tenant's row can be locked for a write, since an act of a program that knows no
-- ledger would be without its leaf.
LOCK TABLE tenants IN EXCLUSIVE MODE;

CREATE TABLE logs (
    tenant text COLLATE "C" PRIMARY KEY,
    size   bigint NOT NULL, -- how many leaves there are
    edge   bytea  NOT NULL  -- the roots of the perfect subtrees, all that it takes to append
) WITH (fillfactor = 50);   -- changed with every leaf; its versions fit into its page

CREATE TABLE log_leaves (
    tenant text COLLATE "C" NOT NULL,
    n      bigint NOT NULL, -- from 0 on, without a gap
    leaf   bytea  NOT NULL,
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

-- Where the leaf of an issued slice stands, which is most of a ledger: its bundle leads here
-- anyway. Of the rows that were there before, the migration sets it; a program that knows no
-- ledger can add none.
ALTER TABLE issued ADD COLUMN leaf bigint NOT NULL DEFAULT -1;
ALTER TABLE issued ALTER COLUMN leaf DROP DEFAULT;

-- Where the other leaves stand, and those that came before their records, as a copy's do.
-- Leaves whose hashes begin alike can be made, so whoever finds one here compares the whole
-- hash.
CREATE TABLE log_index (
    tenant text COLLATE "C" NOT NULL,
    prefix bigint NOT NULL, -- the first 8 bytes of the leaf's hash, big-endian
    n      bigint NOT NULL,
    PRIMARY KEY (tenant, prefix, n)
);

-- What the tenant, as a witness, cosigned last.
CREATE TABLE witnessed (
    tenant text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL, -- of another log
    size   bigint NOT NULL,
    root   bytea  NOT NULL,
    PRIMARY KEY (tenant, origin)
);
