package cli

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
)

// longestTrust is the most bytes of a trust file.
const longestTrust = 16 << 20

// ReadTrust reads a trust file.
func (s *Streams) ReadTrust(ctx context.Context, path string) (*ledger.Trust, error) {
	data, err := s.ReadFile(ctx, path, longestTrust)
	if err != nil {
		return nil, err
	}
	trust, err := ledger.ParseTrust(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return trust, nil
}
