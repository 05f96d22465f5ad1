package access

import (
	"context"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Names of callers without a credential.
const (
	Local = "local" // a command that opened the store itself
	Stdio = "stdio" // an agent that uses the standard input of graphkernel mcp
)

// Caller returns the caller's name for the record: a credential, Local or Stdio. It is empty for any other caller.
func (i Identity) Caller() string {
	if CheckCaller(i.Subject) != nil {
		return ""
	}
	return i.Subject
}

// CheckCaller returns an error for a name that is neither a credential nor Local nor Stdio.
func CheckCaller(name string) error {
	if name == Local || name == Stdio {
		return nil
	}
	return CheckCredential(name)
}

// Vouches reports whether a statement of the caller counts as a person's. It does if the role may revise beliefs, the
// request does not come from a model, and the caller is not an agent over stdio; also if a program embeds the kernel
// and names no caller. It depends on the credential and the entry point, never on a text.
func (i Identity) Vouches() bool {
	return i == (Identity{}) || i.Role.May(Believe) && !i.Model && i.Subject != Stdio
}

// Governs reports whether the caller may say whose words count. It may if its role has the permission Govern, the request does not
// come from a model, and the caller is not an agent over stdio; also if a program embeds the kernel and names no caller.
func (i Identity) Governs() bool {
	return i == (Identity{}) || i.Role.May(Govern) && !i.Model && i.Subject != Stdio
}

// Bringer returns the caller's name for turns that the caller submitted: the id of an API key, Local, Stdio, or "jwt"
// for any other caller. The subject of a JWT is left out because it may be a person's address, and turns are shown to
// others. The record of the turn has the whole credential.
func (i Identity) Bringer() string {
	if strings.HasPrefix(i.Subject, JWT) || i.Caller() == "" {
		return strings.TrimSuffix(JWT, ":")
	}
	return i.Subject
}

// Channel returns the channel by which turns of the caller come in, unless they are read from files.
func (i Identity) Channel() dag.Channel {
	switch {
	case i == (Identity{}):
		return dag.ChannelProgram
	case i.Model || i.Subject == Stdio:
		return dag.ChannelAgent
	case i.Subject == Local:
		return dag.ChannelCommand
	}
	return dag.ChannelAPI
}

type callerKey struct{}

// As returns a context that names the caller. The kernel records the caller with every slice, erasure and belief, and
// the role decides how much a statement of the caller counts.
func As(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// Asking returns the caller named by As in a context; the zero value if there is none.
func Asking(ctx context.Context) Identity {
	who, _ := ctx.Value(callerKey{}).(Identity)
	return who
}

// CallerIn returns the name of the caller in a context; "" if there is none.
func CallerIn(ctx context.Context) string { return Asking(ctx).Caller() }
