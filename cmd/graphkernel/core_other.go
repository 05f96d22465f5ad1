//go:build !linux

package main

func withoutCore() {}
