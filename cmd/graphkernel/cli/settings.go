package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/userdir"
)

// Settings are the flags that every command has, and the environment.
type Settings struct {
	Getenv  func(string) string
	Environ func() []string // the whole environment, as NAME=VALUE; nil if it cannot be listed

	StoreFlag, ServerFlag, TenantFlag, KeysFlag, IdentityFlag string
	SecretsFlag, AdmittedFlag                                 string // only for commands with these flags
	Dev                                                       bool

	FileStore, FileKeys, FileIdentity string // from the file of settings that GRAPHKERNEL_CONFIG names, or --config of serve; the environment overrides them
}

// register declares the flags for a command and all below it.
func (s *Settings) register(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&s.StoreFlag, "store", "", "the store of the turns, sqlite:PATH or postgres://… ($GRAPHKERNEL_STORE; default sqlite:"+s.Abbreviate(s.defaultStore())+")")
	f.StringVar(&s.ServerFlag, "server", "", "ask the service at this URL instead of a store, with the API key in GRAPHKERNEL_KEY ($GRAPHKERNEL_SERVER)")
	f.StringVar(&s.TenantFlag, "tenant", "", `the tenant whose graph is used ($GRAPHKERNEL_TENANT; default "default")`)
	f.StringVar(&s.KeysFlag, "keys", "", "the file of the keyring ($GRAPHKERNEL_KEYS; default "+s.Abbreviate(s.DefaultKeys())+")")
	f.StringVar(&s.IdentityFlag, "identity", "", "the file of the keys that sign for third parties ($GRAPHKERNEL_IDENTITY; default "+s.Abbreviate(s.DefaultIdentity())+")")
	f.BoolVar(&s.Dev, "dev", false, "sign with a random key that is discarded after this run")
	NoFiles(c, "tenant", "server")
}

// Tenant returns the tenant that the flags and the environment name.
func (s *Settings) Tenant() (dag.Tenant, error) {
	name := s.TenantFlag
	if name == "" {
		name = s.Getenv("GRAPHKERNEL_TENANT")
	}
	if name == "" {
		return dag.DefaultTenant, nil
	}
	t, err := dag.ParseTenant(name)
	if err != nil {
		return "", Usage(err)
	}
	return t, nil
}

// NamesTenant reports whether the user named a tenant. If not, the key of the tenant that a bundle names is used.
func (s *Settings) NamesTenant() bool {
	return s.TenantFlag != "" || s.Getenv("GRAPHKERNEL_TENANT") != ""
}

// StoreName returns the name of the store that the flags, the environment and the file of settings name, or of the default store.
func (s *Settings) StoreName() string {
	for _, name := range []string{s.StoreFlag, s.Getenv("GRAPHKERNEL_STORE"), s.FileStore} {
		if name != "" {
			return name
		}
	}
	if path := s.defaultStore(); path != "" {
		return "sqlite:" + path
	}
	return ""
}

// KeysPath returns the file of the keyring that the flags, the environment and the file of settings name.
func (s *Settings) KeysPath() (string, error) {
	for _, path := range []string{s.KeysFlag, s.Getenv("GRAPHKERNEL_KEYS"), s.FileKeys, s.DefaultKeys()} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to look for a keyring in; give --keys or GRAPHKERNEL_KEYS")
}

// KeyringFile returns the absolute path of the keyring's file, or "" if the keys of this run come from elsewhere.
func (s *Settings) KeyringFile() string {
	if s.Dev || s.Getenv("GRAPHKERNEL_SECRET") != "" && s.KeysFlag == "" {
		return ""
	}
	path, err := s.KeysPath()
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// IdentityPath returns the file of the identity that the flags, the environment and the file of settings name.
func (s *Settings) IdentityPath() (string, error) {
	for _, path := range []string{s.IdentityFlag, s.Getenv("GRAPHKERNEL_IDENTITY"), s.FileIdentity, s.DefaultIdentity()} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to look for an identity in; give --identity or GRAPHKERNEL_IDENTITY")
}

// Server returns the URL of the service to ask, or "" for a store on this machine. --store takes precedence over GRAPHKERNEL_SERVER.
func (s *Settings) Server() (string, error) {
	url := s.ServerFlag
	switch {
	case url != "" && s.StoreFlag != "":
		return "", Usagef("--server and --store exclude each other; give only one")
	case url == "" && s.StoreFlag != "":
		return "", nil
	case url == "":
		url = s.Getenv("GRAPHKERNEL_SERVER")
	}
	if url != "" && (s.Dev || s.KeysFlag != "" || s.IdentityFlag != "") {
		return "", Usagef("--dev, --keys and --identity are for a kernel on this machine; the service at %s has its own keys", WithoutPassword(url))
	}
	return url, nil
}

// AsksService reports whether the flags and the environment name a service.
func (s *Settings) AsksService() bool {
	url, err := s.Server()
	return err == nil && url != ""
}

// Flags returns the flags with which another run, in another folder and with another environment, asks the same store or service for the same tenant. Paths
// are absolute. It refuses a password, because others can read flags.
func (s *Settings) Flags() ([]string, error) {
	var flags []string
	add := func(flag, value string) { flags = append(flags, "--"+flag, value) }
	url, err := s.Server()
	if err != nil {
		return nil, err
	}
	if url != "" {
		add("server", url)
	} else {
		name := s.StoreName()
		if path, err := SqlitePath(name); err == nil {
			if path, err = filepath.Abs(path); err != nil {
				return nil, err
			}
			name = "sqlite:" + path
		}
		if name != "sqlite:"+s.defaultStore() {
			add("store", name)
		}
		if keys := First(s.KeysFlag, s.Getenv("GRAPHKERNEL_KEYS"), s.FileKeys); keys != "" {
			if keys, err = filepath.Abs(keys); err != nil {
				return nil, err
			}
			add("keys", keys)
		}
	}
	if s.NamesTenant() {
		tenant, err := s.Tenant()
		if err != nil {
			return nil, err
		}
		add("tenant", string(tenant))
	}
	for _, value := range flags {
		if WithoutPassword(value) != value {
			return nil, Usagef("%s has a password, which must not get into a command line; keep it in a file (~/.pgpass) or in the environment", WithoutPassword(value))
		}
	}
	return flags, nil
}

func (s *Settings) defaultStore() string {
	return Below(s.Folder(userdir.Data), "graphkernel.db")
}

// DefaultKeys returns the default path of the keyring, or "".
func (s *Settings) DefaultKeys() string {
	return Below(s.Folder(userdir.Config), "keys.json")
}

// DefaultIdentity returns the default path of the identity, or "".
func (s *Settings) DefaultIdentity() string {
	return Below(s.Folder(userdir.Config), "identity.json")
}

// Folder returns the user's folder for a purpose, or "" if the environment names no home.
func (s *Settings) Folder(p userdir.Purpose) string { return userdir.Of(p, s.Getenv) }

// Below joins a folder and a name; it returns "" without a folder.
func Below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// Abbreviate replaces the home folder in a path by a tilde, so that help texts are the same for everybody.
func (s *Settings) Abbreviate(path string) string {
	if home := s.Getenv("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}
