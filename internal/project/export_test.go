package project

// What tests of the package look at.
var (
	OriginURL    = originURL
	NormalOrigin = normalOrigin
)
