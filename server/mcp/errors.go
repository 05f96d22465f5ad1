package mcp

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
)

// refusef returns an error of the caller's, with a text meant for the caller.
func refusef(format string, args ...any) error {
	return api.Faultf(api.CodeInvalid, "", format, args...)
}

// sentence returns the text of an error for the caller: what is wrong, and what to do. It reports false for errors that
// must not be shown. Malformed values are among these errors: if arguments are malformed the caller is at fault, but
// anywhere else the stored data is damaged.
func sentence(err error) (text string, code api.Code, told bool) {
	report := fault.Of(err)
	kind := report.Kind()
	return report.Detail + kind.Advice, report.Code, !kind.Withheld
}
