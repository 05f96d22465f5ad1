//go:build !unix

package resident

import (
	"context"
	"errors"
	"net"
)

// ErrThere is wrapped if another process answers the hooks of a spool.
var ErrThere = errors.New("another process answers hooks")

func dial(context.Context, string) (net.Conn, error) { return nil, errors.ErrUnsupported }

// Listen is an error that wraps errors.ErrUnsupported: hooks do without a resident process here.
func Listen(context.Context, string, bool) (*Listener, error) { return nil, errors.ErrUnsupported }
