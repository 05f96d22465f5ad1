// Package userdir returns the folders of this program's files for a user, as each platform defines them.
package userdir

import (
	"path/filepath"
	"runtime"
)

// A Purpose is the purpose of a folder. XDG has a variable and a default for each (XDG Base Directory Specification 0.8).
type Purpose struct{ variable, below string }

// The purposes for which this program has files.
var (
	Data   = Purpose{"XDG_DATA_HOME", filepath.Join(".local", "share")}  // files that the user would miss
	Config = Purpose{"XDG_CONFIG_HOME", ".config"}                       // keys and settings
	State  = Purpose{"XDG_STATE_HOME", filepath.Join(".local", "state")} // files that outlast a run and can be created again
)

// Of returns the folder for a purpose, or "" if the environment names no home folder. The folder may not exist.
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
