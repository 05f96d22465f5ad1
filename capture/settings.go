package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graphkernel/graphkernel/internal/project"
	"github.com/graphkernel/graphkernel/internal/secretfile"
)

const settingsFile = "settings.json"

// Settings say which sessions hooks do not capture. They are a file in the spool, so a hook needs to read nothing else.
type Settings struct {
	Paused   bool     `json:"paused,omitempty"`
	LeaveOut []string `json:"leave_out,omitempty"` // absolute paths of folders; sessions in and below them are not captured
}

// Settings reads the spool's settings. Without a settings file, everything is captured.
func (s *Spool) Settings() (set Settings, err error) {
	data, err := os.ReadFile(filepath.Join(s.folder, settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return set, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &set)
	}
	if err != nil {
		return set, fmt.Errorf("capture: %s: %w", filepath.Join(s.folder, settingsFile), err)
	}
	return set, nil
}

// Set replaces the spool's settings.
func (s *Spool) Set(set Settings) error {
	data, err := json.MarshalIndent(set, "", "  ")
	if err == nil {
		err = secretfile.Save(filepath.Join(s.folder, settingsFile), append(data, '\n'), false)
	}
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// Captures reports whether sessions in a folder are captured.
func (set *Settings) Captures(folder string) bool { return !set.Paused && set.LeftOut(folder) == "" }

// LeftOut returns the folder in LeaveOut that contains folder, or that is folder itself, and "" if there is none. Links and
// letter case make no difference where the folders exist.
func (set *Settings) LeftOut(folder string) string {
	if folder == "" {
		return ""
	}
	for _, out := range set.LeaveOut {
		if project.Below(folder, out) {
			return out
		}
	}
	return ""
}
