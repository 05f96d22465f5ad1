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

// Listen returns errors.ErrUnsupported: on this system hooks work without a resident process.
func Listen(context.Context, string, bool) (*Listener, error) { return nil, errors.ErrUnsupported }
