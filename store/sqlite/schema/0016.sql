-- The key of an external id that is a digest is the beginning of the digest.
UPDATE turns SET name = substr(unhex(CAST(external AS TEXT)), 1, 8)
    WHERE length(external) IN (40, 64) AND CAST(external AS TEXT) NOT GLOB '*[^0-9a-f]*';
