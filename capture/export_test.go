package capture

// Words is words, for tests.
var Words = words
