//go:build !unix

package sqlite_test

func childOfKill() bool { return false }
