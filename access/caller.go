package access

import "context"

// Names of callers who come with no credential.
const (
	Local = "local" // a command that opened the store itself
	Stdio = "stdio" // an agent over the standard input of graphkernel mcp
)

// Caller names who asks, for the record: a credential, Local or Stdio. It is empty for anybody else.
func (i Identity) Caller() string {
	if CheckCaller(i.Subject) != nil {
		return ""
	}
	return i.Subject
}

// CheckCaller reports a text that is neither a credential nor Local nor Stdio.
func CheckCaller(name string) error {
	if name == Local || name == Stdio {
		return nil
	}
	return CheckCredential(name)
}

type callerKey struct{}

// As returns a context in which a caller asks. The kernel records the caller with what it hands out and erases.
func As(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerIn returns who asks in a context, as As was told; "" if it was not told.
func CallerIn(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}
