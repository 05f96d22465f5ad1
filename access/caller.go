package access

import (
	"context"
	"strings"
)

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

// Vouches reports whether the word of the caller counts as a person's. It does if the role may revise beliefs and no model asks, and in a program that
// embeds the kernel and names no caller. It follows from the credential and the door, and never from a text.
func (i Identity) Vouches() bool {
	return i == (Identity{}) || i.Role.May(Believe) && !i.Model && i.Subject != Stdio
}

// Bringer names the caller in a turn that the caller brought: the id of an API key, Stdio, or "jwt". The subject of a JWT may be a person's
// address, and a turn is shown to others. The record of the turn has the whole credential.
func (i Identity) Bringer() string {
	if strings.HasPrefix(i.Subject, JWT) || i.Caller() == "" {
		return strings.TrimSuffix(JWT, ":")
	}
	return i.Subject
}

type callerKey struct{}

// As returns a context in which somebody asks. The kernel records the caller with what it hands out, erases and believes, and how
// much the word of a caller counts follows from the role.
func As(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// Asking returns who asks in a context, as As was told; the zero value if it was not told.
func Asking(ctx context.Context) Identity {
	who, _ := ctx.Value(callerKey{}).(Identity)
	return who
}

// CallerIn returns the name of who asks in a context; "" if it was not told.
func CallerIn(ctx context.Context) string { return Asking(ctx).Caller() }
