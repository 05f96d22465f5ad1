-- API keys. The key itself is nowhere; who reads the file cannot present it.
CREATE TABLE api_keys (
    tenant     INTEGER NOT NULL,
    id         TEXT NOT NULL,
    role       TEXT NOT NULL,
    note       BLOB NOT NULL,
    hash       BLOB NOT NULL,    -- SHA-256 of the key's text
    created_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL, -- 0: not revoked
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
