// Package userdir finds the folders that a user's files of this program are in, as the platform has them.
package userdir

import (
	"path/filepath"
	"runtime"
)

// A Purpose is what a folder is for. XDG has a variable and a default for each (XDG Base Directory Specification 0.8).
type Purpose struct{ variable, below string }

// The purposes that this program has files for.
var (
	Data   = Purpose{"XDG_DATA_HOME", filepath.Join(".local", "share")}  // what the user would miss
	Config = Purpose{"XDG_CONFIG_HOME", ".config"}                       // keys and settings
	State  = Purpose{"XDG_STATE_HOME", filepath.Join(".local", "state")} // what lasts between runs and could be made again
)

// Of returns the folder for a purpose, or "" if the environment names no home. The folder need not be there.
func Of(p Purpose, getenv func(string) string) string {
	if dir := getenv(p.variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "graphkernel")
	}
	home, below := getenv("HOME"), p.below
	switch runtime.GOOS {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		home, below = getenv("LocalAppData"), ""
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, below, "graphkernel")
}
