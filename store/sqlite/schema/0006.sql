-- What was asked, of a slice of facts; NULL of one of turns, whose anchor says it.
ALTER TABLE issued ADD COLUMN question TEXT;
