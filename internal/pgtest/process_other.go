//go:build !unix

package pgtest

import (
	"errors"
	"syscall"
)

const supported = false

const (
	sigStop syscall.Signal = iota + 1
	sigContinue
	sigKill
	sigFast
	sigAtOnce
)

func send(int, syscall.Signal) error { return errors.ErrUnsupported }

func attributes(*owner) *syscall.SysProcAttr { return nil }
