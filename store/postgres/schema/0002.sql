-- API keys. The key itself is nowhere; who reads the table cannot present it.
CREATE TABLE api_keys (
    tenant     text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    role       text   NOT NULL,
    note       bytea  NOT NULL,
    hash       bytea  NOT NULL, -- SHA-256 of the key's text
    created_at bigint NOT NULL,
    revoked_at bigint NOT NULL, -- 0: not revoked
    PRIMARY KEY (tenant, id)
);
