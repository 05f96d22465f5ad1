package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
)

// Bounds of artifacts.
const (
	MaxArtifacts = 16      // in a revision
	MaxLocation  = 1 << 10 // bytes
	MaxSize      = 1<<53 - 1
)

var mediaType = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$`)

// checkArtifact refuses a malformed artifact.
func checkArtifact(a *belief.Artifact) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case !belief.IsArtifact(a.Name):
		return fmt.Errorf("the name is %.80q, want [a-z0-9][a-z0-9._-]{0,63}", a.Name)
	case a.Location == "" || len(a.Location) > MaxLocation || !utf8.ValidString(a.Location) || strings.ContainsFunc(a.Location, control):
		return fmt.Errorf("%q: the location is %.80q with %d bytes, want 1 to %d bytes of UTF-8 without control characters", a.Name, a.Location, len(a.Location), MaxLocation)
	case !mediaType.MatchString(a.MediaType):
		return fmt.Errorf("%q: the media type is %.80q, want TYPE/SUBTYPE in lower case, without parameters", a.Name, a.MediaType)
	case a.Size < 0 || a.Size > MaxSize:
		return fmt.Errorf("%q: the size is %d, want 0 to %d", a.Name, a.Size, int64(MaxSize))
	}
	return nil
}

// CheckArtifacts refuses the artifacts of a revision unless they are well-formed, at most MaxArtifacts, and ascending by name.
func CheckArtifacts(list []belief.Artifact) error {
	if len(list) > MaxArtifacts {
		return fmt.Errorf("%w: the revision has %d artifacts, at most %d", belief.ErrForm, len(list), MaxArtifacts)
	}
	for i := range list {
		if err := checkArtifact(&list[i]); err != nil {
			return fmt.Errorf("%w: artifact %w", belief.ErrForm, err)
		}
		if i > 0 && list[i-1].Name >= list[i].Name {
			return fmt.Errorf("%w: artifact %q: names must ascend, each once", belief.ErrForm, list[i].Name)
		}
	}
	return nil
}

// Artifact returns the artifact with a name; nil if the revision has none.
func (r *Revision) Artifact(name string) *belief.Artifact {
	if i := slices.IndexFunc(r.Artifacts, func(a belief.Artifact) bool { return a.Name == name }); i >= 0 {
		return &r.Artifacts[i]
	}
	return nil
}

func wireArtifacts(list []belief.Artifact) (wire []wireArtifact) {
	for _, a := range list {
		wire = append(wire, wireArtifact{Location: a.Location, Media: a.MediaType, Name: a.Name, Digest: a.SHA256, Size: a.Size})
	}
	return wire
}

func readArtifacts(wire []wireArtifact) (list []belief.Artifact) {
	for _, w := range wire {
		list = append(list, belief.Artifact{Name: w.Name, Location: w.Location, MediaType: w.Media, Size: w.Size, SHA256: w.Digest})
	}
	return list
}
