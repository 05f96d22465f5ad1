package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A packageCommand is a command that adds packages. All its options must be known: after an unknown option, a package cannot be
// distinguished from a value.
type packageCommand struct {
	begins    string // the first words of the command
	ecosystem string
	flags     string // options without a value
	valued    string // options whose value is the next word
}

const (
	npmFlags  = "-D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact -g --global --force -f --legacy-peer-deps --no-audit --no-fund --silent -s --quiet -q --yes -y -B --save-bundle --no-save"
	pnpmFlags = "-D --save-dev -P --save-prod -O --save-optional -E --save-exact -g --global -w --workspace-root --save-peer --silent -s"
	yarnFlags = "-D --dev -P --peer -O --optional -E --exact -T --tilde --silent -s --ignore-scripts -W"
	bunFlags  = "-d -D --dev --development --optional --peer -E --exact -g --global"
	pipFlags  = "-U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y"
	pipValued = "-i --index-url --extra-index-url -c --constraint -r --requirement -e --editable -t --target -f --find-links --prefix --python"
	uvFlags   = "--dev -q --quiet -U --upgrade --no-sync --frozen --locked --raw --optional-dependencies --prerelease=allow"
	uvValued  = "--group --optional --extra --package --index --index-url --extra-index-url -c --constraint -r --requirements --python -p --branch --tag --rev"
)

// packageCommands are tried in this order.
var packageCommands = [...]packageCommand{
	{"go get", "go", "-u -t -v -x -d -u=patch", ""},
	{"npm install", "npm", npmFlags, "-w --workspace --prefix --registry"},
	{"npm i", "npm", npmFlags, "-w --workspace --prefix --registry"},
	{"npm add", "npm", npmFlags, "-w --workspace --prefix --registry"},
	{"pnpm add", "npm", pnpmFlags, "-F --filter -C --dir"},
	{"yarn add", "npm", yarnFlags, ""},
	{"bun add", "npm", bunFlags, "--cwd"},
	{"uv pip install", "pypi", pipFlags, pipValued},
	{"uv add", "pypi", uvFlags, uvValued},
	{"pip install", "pypi", pipFlags, pipValued},
	{"pip3 install", "pypi", pipFlags, pipValued},
	{"python -m pip install", "pypi", pipFlags, pipValued},
	{"python3 -m pip install", "pypi", pipFlags, pipValued},
	{"poetry add", "pypi", "-D --dev -q --quiet -n --no-interaction --allow-prereleases --optional --lock", "-G --group -E --extras --source --python"},
	{"cargo add", "cargo", "--dev --build --optional --no-default-features -q --quiet -v", "-F --features -p --package --rename --target --manifest-path --registry"},
}

// packageNames match package names of each ecosystem, with an optional version, extras and tag. Anything else, such as a path
// or an address, is not a package name.
var packageNames = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"go":    regexp.MustCompile(`^([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:/[A-Za-z0-9_.~!-]+)*)(?:@[^/]+)?$`),
		"npm":   regexp.MustCompile(`^((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[^/:]+)?$`),
		"pypi":  regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[^\]]*\])?(?:@[^/:]+|[<>=!~^].*)?$`),
		"cargo": regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_-]*)(?:@[^/:]+)?$`),
	}
})

// packages finds the packages that the i-th command of a successful list added. A command after "||" may not have run, and a
// command before it may have failed.
func (x *extraction) packages(c *call, list []segment, i int) {
	p, args := packageCommandOf(list[i].words)
	if p == nil || list[i].after == "||" || list[i].after == "&" || i > 0 && list[i-1].after == "||" {
		return
	}
	sure := FixedForm
	for j := i; j < len(list); j++ {
		// The success of a list is the success of its last command, and of the commands joined to it by "&&".
		last := j == len(list)-1 && (list[j].after == "" || list[j].after == ";")
		if list[j].after != "&&" && !last {
			sure = Loose
		}
	}
	var names, versions []string
	for k := 0; k < len(args); k++ {
		w := args[k]
		switch name := packageNames()[p.ecosystem].FindStringSubmatch(w.text); {
		case w.text == "--" || strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "="):
		case slices.Contains(strings.Fields(p.flags), w.text):
		case slices.Contains(strings.Fields(p.valued), w.text):
			k++
		case strings.HasPrefix(w.text, "-"):
			x.skipped.UnclearCommand++
			return
		case w.fixed && name != nil && !isLocal(p, w.text):
			names = append(names, name[1])
			if rest := w.text[len(name[1]):]; rest != "" && !strings.HasSuffix(rest, "]") { // a "]" ends a list of extras
				versions = append(versions, w.text)
			}
		}
	}
	for _, name := range names {
		x.add(&c.by, AddedPackage, p.ecosystem+":"+name, min(sure, c.sure()))
	}
	for _, version := range versions {
		x.add(&c.by, AddedVersion, p.ecosystem+":"+version, min(sure, c.sure()))
	}
}

// isLocal reports whether a word that looks like a package name is a file or removes a package.
func isLocal(p *packageCommand, w string) bool {
	return w == "." || p.ecosystem == "pypi" && (strings.HasSuffix(w, ".whl") || strings.HasSuffix(w, ".tar.gz") || strings.HasSuffix(w, ".txt")) ||
		p.ecosystem == "npm" && strings.HasSuffix(w, ".tgz") || p.ecosystem == "go" && strings.HasSuffix(w, "@none")
}

func packageCommandOf(words []word) (*packageCommand, []word) {
	for i := range packageCommands {
		begins := strings.Fields(packageCommands[i].begins)
		if len(words) > len(begins) && slices.EqualFunc(words[:len(begins)], begins, func(w word, s string) bool { return w.text == s }) {
			return &packageCommands[i], words[len(begins):]
		}
	}
	return nil, nil
}
