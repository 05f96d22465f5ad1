package faultproxy

import (
	"net"
	"syscall"
	"unsafe"
)

// unsent returns the number of bytes that the other side has not acknowledged, or 0 if the connection has ended (SIOCOUTQ of
// tcp(7)).
func unsent(conn *net.TCPConn) int {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	var n int32
	err = raw.Control(func(fd uintptr) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n))); errno != 0 {
			n = 0
		}
	})
	if err != nil {
		return 0
	}
	return int(n)
}
