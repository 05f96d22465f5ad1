package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// screen calls Config.ScreenTexts with texts and returns its error.
func (k *engine) screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error {
	if k.config.ScreenTexts == nil {
		return nil
	}
	return k.config.ScreenTexts(ctx, tenant, texts())
}

func named(in string, names []string) (texts []dag.Text) {
	for i, name := range names {
		texts = append(texts, dag.Text{In: fmt.Sprintf("%s[%d]", in, i), Text: name})
	}
	return texts
}
