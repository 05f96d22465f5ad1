//go:build !unix && !windows

package hook

import "errors"

// Start returns errors.ErrUnsupported: on this system no process answers hooks.
func Start(string, []string) error { return errors.ErrUnsupported }
