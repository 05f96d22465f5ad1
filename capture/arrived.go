package capture

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func (s *Spool) arrived(agent Agent) string { return s.folder + ".arrived-" + string(agent) }

// Arrive records that a hook of an agent was called.
func (s *Spool) Arrive(agent Agent, now time.Time) error {
	path := s.arrived(agent)
	if err := os.Chtimes(path, now, now); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, now, now)
}

// Arrived returns when a hook of an agent was last called, or the zero time if none ever was.
func (s *Spool) Arrived(agent Agent) time.Time {
	info, err := os.Stat(s.arrived(agent))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// mostFiles is the largest number of files that NewestTranscript looks at.
const mostFiles = 50_000

// NewestTranscript returns when the agent last wrote a transcript, or the zero time if there is no transcript.
func (a Agent) NewestTranscript(getenv func(string) string) (newest time.Time) {
	settings := a.SettingsFile(getenv)
	if settings == "" {
		return newest
	}
	seen := 0
	_ = filepath.WalkDir(filepath.Join(filepath.Dir(settings), dialects[a].sessions), func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostFiles {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() || !strings.Contains(filepath.Base(path), ".json") {
			return nil //nolint:nilerr // a folder that cannot be read has no transcripts
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return nil
	})
	return newest
}
