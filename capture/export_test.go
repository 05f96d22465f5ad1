package capture

// Split is split, for tests.
var Split = split
