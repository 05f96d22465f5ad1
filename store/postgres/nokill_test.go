//go:build !unix

package postgres_test

func child() bool { return false }
