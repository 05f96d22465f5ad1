// Package loopback owns the check whether a host is this machine: nobody on the way can read plain HTTP to such a host.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Is reports whether a host, with or without a port, names this machine: localhost, or an address of the loopback range
// (127.0.0.0/8, ::1). It looks up no names, so any other name, such as 127.example.com, counts as another machine.
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
