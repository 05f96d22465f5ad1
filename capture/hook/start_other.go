//go:build !unix && !windows

package hook

import "errors"

// Start is errors.ErrUnsupported: hooks do without a process that answers them here.
func Start(string, []string) error { return errors.ErrUnsupported }
