// Package loopback owns the answer to the question whether a host is this machine: what goes there over plain HTTP is read by nobody on the way.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Is reports whether a host, with or without a port, is this machine's own name for itself: localhost, or an address of the loopback range (127.0.0.0/8,
// ::1). No name is looked up, so any other name, such as 127.example.com, is of another machine.
func Is(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
