package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// screen calls Config.ScreenTexts with texts and returns its error.
func (k *engine) screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error {
	if k.config.ScreenTexts == nil {
		return nil
	}
	return k.config.ScreenTexts(ctx, tenant, texts())
}

// textsOf returns the texts of acts, as they were written.
func textsOf(acts []knowledge.Act) (texts []dag.Text) {
	for i := range acts {
		add := func(in, name string, spellings ...string) {
			for n, text := range spellings {
				if text != "" && (n == 0 || text != spellings[0]) {
					texts = append(texts, dag.Text{In: fmt.Sprintf("acts[%d].%s", i, in), Name: name, Text: text})
				}
			}
		}
		a := &acts[i]
		f := &a.Fact
		add("subject", "", f.Subject, f.Written.Subject)
		add("predicate", "", f.Predicate, f.Written.Predicate)
		add("object", f.Predicate, f.Object, f.Written.Object)
		add("reason", "", a.Reason)
		add("alias", "", a.Alias)
		add("canonical", "", a.Canonical)
	}
	return texts
}

func named(in string, names []string) (texts []dag.Text) {
	for i, name := range names {
		texts = append(texts, dag.Text{In: fmt.Sprintf("%s[%d]", in, i), Text: name})
	}
	return texts
}
