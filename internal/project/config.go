package project

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
)

// originURL returns the URL of the remote origin in a repository's configuration. It does not read files that the configuration
// includes.
func originURL(config string) (string, error) { return setting(config, "remote", "origin", "url") }

// setting returns the first value of a key in a section of git's configuration (see git-config(1)), or "" if there is none.
func setting(path, section, subsection, key string) (string, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	within := false
	for line, rest := "", strings.ReplaceAll(text, "\r\n", "\n"); rest != ""; {
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			var ok bool
			if within, line, ok = header(line, section, subsection); !ok {
				continue
			}
		}
		name, value, has := strings.Cut(line, "=")
		if !within || !has || !strings.EqualFold(strings.TrimSpace(name), key) {
			continue
		}
		for strings.HasSuffix(value, `\`) && !strings.HasSuffix(value, `\\`) && rest != "" { // the value continues on the next line
			var more string
			more, rest, _ = strings.Cut(rest, "\n")
			value = value[:len(value)-1] + more
		}
		return unquoted(value), nil
	}
	return "", nil
}

// header reads the header of a section. It reports whether the section is the wanted one, and returns the rest of the line.
func header(line, section, subsection string) (wanted bool, rest string, ok bool) {
	var name, sub strings.Builder
	quoted, escaped := false, false
	at := &name
	for i, r := range line[1:] {
		switch {
		case escaped:
			at.WriteRune(r)
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted, at = !quoted, &sub
		case !quoted && r == ']':
			is := strings.EqualFold(strings.TrimSpace(name.String()), section) && sub.String() == subsection
			if old, deprecated, cut := strings.Cut(name.String(), "."); cut && sub.Len() == 0 {
				is = strings.EqualFold(old, section) && strings.EqualFold(deprecated, subsection)
			}
			return is, line[i+2:], true
		default:
			at.WriteRune(r)
		}
	}
	return false, "", false
}

// unquoted returns a value without its quotation marks, escapes and comment.
func unquoted(value string) string {
	var b strings.Builder
	quoted, kept := false, 0 // the number of bytes up to the last one that is not a trailing space
	value = strings.TrimLeft(value, " \t")
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value):
			i++
			switch e := value[i]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			default:
				b.WriteByte(e)
			}
			kept = b.Len()
			continue
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:kept]
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	return b.String()[:kept]
}

// ports are the default ports of schemes.
var ports = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418"}

// normalOrigin returns the host and the path of a remote's URL, without the user, the scheme, the scheme's default port and the
// ending .git, so that all URLs of a repository become the same. A local path, which is relative to folder, has no host.
func normalOrigin(remote, folder string) string {
	remote = strings.TrimSpace(remote)
	if remote == "" {
		return ""
	}
	trim := func(path string) string {
		path = strings.TrimRight(filepath.ToSlash(path), "/")
		return strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	}
	if u, err := url.Parse(remote); err == nil && u.Host != "" && strings.Contains(remote, "://") {
		scheme := u.Scheme
		if scheme == "git+ssh" || scheme == "ssh+git" {
			scheme = "ssh"
		}
		host := strings.ToLower(u.Hostname())
		if port := u.Port(); port != "" && port != ports[scheme] {
			host += ":" + port
		}
		return host + "/" + strings.TrimLeft(trim(u.Path), "/")
	}
	local, isFile := strings.CutPrefix(remote, "file://")
	if host, path, ok := scp(remote); ok && !isFile {
		return strings.ToLower(host) + "/" + strings.TrimLeft(trim(path), "/")
	}
	path := from(folder, local)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return trim(filepath.Clean(path))
}

// scp splits [user@]host:path. A colon after a slash belongs to a path, and so does a colon after a single letter, which is a
// drive.
func scp(remote string) (host, path string, ok bool) {
	host, path, ok = strings.Cut(remote, ":")
	if !ok || path == "" || strings.ContainsAny(host, `/\`) || len(host) == 1 {
		return "", "", false
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host, path, host != ""
}
