//go:build !linux

package faultproxy

import "net"

// unsent returns 0, since the number is unknown on this system.
func unsent(*net.TCPConn) int { return 0 }
