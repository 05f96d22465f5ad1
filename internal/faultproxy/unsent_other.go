//go:build !linux

package faultproxy

import "net"

// unsent is not known here.
func unsent(*net.TCPConn) int { return 0 }
