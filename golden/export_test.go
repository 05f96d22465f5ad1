package golden

// What tests look into.
var (
	Archive = archive
	Files   = files
	Unpack  = unpack
	CasesOf = casesOf
)
