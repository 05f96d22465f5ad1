// Secretrules writes the rule file of gitleaks in the form that ingest/secrets reads. What depends on the path of a file or on a
// commit is left out, since a turn has neither: allowlists of paths, conditions that need one, and the rule that has a path alone.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// A file is gitleaks' configuration, as far as it is used here.
type file struct {
	Title, MinVersion string
	Allowlist         *allowlist
	Rules             []rule
}

type rule struct {
	ID, Description, Regex, Path string
	SecretGroup                  int
	Entropy                      float64
	Keywords, Tags               []string
	Allowlists                   []allowlist
}

type allowlist struct {
	Description, Condition, RegexTarget string
	Paths, Commits, Regexes, StopWords  []string
}

// Rules is the form that ingest/secrets reads.
type Rules struct {
	Allow []Allow `json:"allow"`
	Rules []Rule  `json:"rules"`
}

// A Rule is a rule of it.
type Rule struct {
	ID       string   `json:"id"`
	Regex    string   `json:"regex"`
	Group    int      `json:"group,omitempty"`
	Entropy  float64  `json:"entropy,omitempty"`
	Keywords []string `json:"keywords"`
	Allow    []Allow  `json:"allow,omitempty"`
}

// An Allow is what is no secret.
type Allow struct {
	All       bool     `json:"all,omitempty"`
	Target    string   `json:"target,omitempty"`
	Regexes   []string `json:"regexes,omitempty"`
	StopWords []string `json:"stopwords,omitempty"`
}

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "secretrules:", err)
		os.Exit(1)
	}
}

func write() error {
	data, err := convert(config.DefaultConfig)
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	return err
}

// convert refuses members that it does not know, so that nothing new in the file is lost in silence.
func convert(text string) ([]byte, error) {
	var f file
	d := toml.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	out := Rules{Allow: allows([]allowlist{*f.Allowlist})}
	for i := range f.Rules {
		r := &f.Rules[i]
		if r.Regex == "" {
			continue // it looks at names of files alone
		}
		if len(r.Keywords) == 0 {
			return nil, fmt.Errorf("rule %s has no keywords", r.ID)
		}
		out.Rules = append(out.Rules, Rule{r.ID, r.Regex, r.SecretGroup, r.Entropy, r.Keywords, allows(r.Allowlists)})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(out)
	return b.Bytes(), err
}

func allows(list []allowlist) (out []Allow) {
	for _, a := range list {
		all := strings.EqualFold(a.Condition, "AND")
		if all && len(a.Paths)+len(a.Commits) > 0 || len(a.Regexes)+len(a.StopWords) == 0 {
			continue
		}
		out = append(out, Allow{all, a.RegexTarget, a.Regexes, a.StopWords})
	}
	return out
}
