-- The key of an external id that is a digest is the beginning of the digest.
UPDATE turns SET name = decode(convert_from(substr(external, 1, 16), 'UTF8'), 'hex')
    WHERE length(external) IN (40, 64) AND encode(external, 'escape') ~ '^[0-9a-f]*$';
