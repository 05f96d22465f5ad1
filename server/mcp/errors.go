package mcp

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
)

// refusef makes an error of the caller's, in words meant for them.
func refusef(format string, args ...any) error {
	return api.Faultf(api.CodeInvalid, "", format, args...)
}

// sentence returns what a caller is told of an error: what is wrong, and what to do. It reports false
// for what must not be shown. A malformed value is among that: it is the caller's where arguments are
// read, and damage anywhere else.
func sentence(err error) (text string, code api.Code, told bool) {
	report := fault.Of(err)
	kind := report.Kind()
	return report.Detail + kind.Advice, report.Code, !kind.Withheld
}
