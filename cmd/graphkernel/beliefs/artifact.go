package beliefs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
)

// artifactForm is the form of --artifact.
const artifactForm = "NAME=LOCATION[,type=MEDIA_TYPE][,size=BYTES,sha256=HEX]"

// artifactOf reads an artifact from the command line. If its size and digest are not given, they are computed from the file at the location; the file's
// content is sent nowhere.
func artifactOf(text string) (api.Artifact, error) {
	name, location, _ := strings.Cut(text, "=")
	given := map[string]string{}
	for {
		at := strings.LastIndexByte(location, ',')
		if at < 0 {
			break
		}
		key, value, _ := strings.Cut(location[at+1:], "=")
		if key != "type" && key != "size" && key != "sha256" {
			break // the comma belongs to the location
		}
		if _, twice := given[key]; twice {
			return api.Artifact{}, cli.Usagef("--artifact %.200q has %s twice", text, key)
		}
		given[key], location = value, location[:at]
	}
	if name == "" || location == "" {
		return api.Artifact{}, cli.Usagef("--artifact is %.200q, want %s", text, artifactForm)
	}
	a := api.Artifact{Name: name, Location: location, MediaType: "application/octet-stream"}
	if media, ok := given["type"]; ok {
		a.MediaType = media
	}
	size, sized := given["size"]
	digest, digested := given["sha256"]
	if sized != digested {
		return a, cli.Usagef("--artifact %.200q: give both size and sha256, or neither to read them from the file", text)
	}
	if !sized {
		return a, measure(&a)
	}
	var err error
	if a.Size, err = strconv.ParseInt(size, 10, 64); err != nil || a.Size < 0 {
		return a, cli.Usagef("--artifact %.200q: size is %.40q, want a number of bytes", text, size)
	}
	if a.SHA256, err = dag.AnyCase(dag.ParseDigest)(digest); err != nil {
		return a, cli.Usagef("--artifact %.200q: %w", text, err)
	}
	return a, nil
}

// measure sets the size and the digest of an artifact from the file at its location.
func measure(a *api.Artifact) error {
	file, err := os.Open(strings.TrimPrefix(a.Location, "file://"))
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("--artifact %s: there is no file %.200q here; for a file that is kept elsewhere, also give size= and sha256=", a.Name, a.Location)
	} else if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return cli.Usagef("--artifact %s: %.200q is no file", a.Name, a.Location)
	}
	h := sha256.New()
	if a.Size, err = io.Copy(h, file); err != nil {
		return err
	}
	a.SHA256 = dag.Digest(h.Sum(nil))
	return nil
}

// artifactLine returns an artifact as one line.
func artifactLine(a *api.Artifact) string {
	return fmt.Sprintf("%s: %s, %s, %s", oneLine(a.Name, widestName), oneLine(a.Location, widestText), oneLine(a.MediaType, widestName), cli.Count(uint64(a.Size), "byte"))
}
