-- One index leads to the records of issued slices, both by their slices and by their bundles:
-- a bundle says of which slice and as of when it is. Its entries are short, and each record
-- changes one page of it and not two, so that the millionth costs what the first did.
DROP INDEX issued_by_bundle;
DROP INDEX issued_by_slice;
CREATE INDEX issued_by_slice ON issued (tenant, substr(slice, 1, 8), as_of);
