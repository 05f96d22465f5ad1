package cli

import (
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
	"github.com/graphkernel/graphkernel/slice"
)

// ErrTampered is wrapped if a bundle to work with is not as it was signed.
var ErrTampered error = api.Faultf(api.CodeTampered, "", "tampered")

// Untampered refuses a bundle with a failed check: anything made from the bundle would have the same fault, and nobody could tell why.
func Untampered(path string, checks []slice.Check) error {
	for _, check := range checks {
		if check.Status == slice.StatusFail {
			return fmt.Errorf("%w: %s: %s: %s", ErrTampered, path, check.ID, check.Detail)
		}
	}
	return nil
}

// A finished is an error that ends the program with an exit code after the verdict was printed.
type finished struct{ code int }

func (f *finished) Error() string { return fmt.Sprintf("exit code %d", f.code) }

// Finish returns an error that ends the program with an exit code after the verdict was printed; nil for api.ExitOK.
func Finish(code int) error {
	if code == api.ExitOK {
		return nil
	}
	return &finished{code}
}

// Usage makes an error a usage error; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &api.Fault{Code: api.CodeUsage, Err: err}
}

// Usagef makes a new usage error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	report := fault.Of(err)
	return report.Kind().Exit
}

// Detail returns what a service says of an error to its callers.
func Detail(err error) string { return fault.Of(err).Detail }

// Is reports whether an error of a kernel or of a service has a code.
func Is(err error, code api.Code) bool {
	if err == nil {
		return false
	}
	report := fault.Of(err)
	return report.Code == code || report.Sent() == code
}
