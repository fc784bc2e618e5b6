package hub

import (
	"context"
	"errors"
	"fmt"
)

// Recheck hashes every file that a plan takes for present and marks those with
// wrong bytes to be fetched again, after removing them. It returns their paths.
func (c *Client) Recheck(ctx context.Context, p *Plan) (wrong []string, err error) {
	for n := range p.Items {
		i := &p.Items[n]
		if i.Fetch() {
			continue
		}
		err := p.check(ctx, *i)
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrChecksum) || c.options.Offline {
			return wrong, fmt.Errorf("%s: %w", p.Repo.Name, err)
		}
		if err := p.Target.drop(p.Listing, i.File); err != nil {
			return wrong, fmt.Errorf("%s: remove the damaged %s: %w", p.Repo.Name, i.Path, err)
		}
		i.presence = absent
		wrong = append(wrong, i.Path)
	}
	return wrong, nil
}

// check hashes one file that is present, or the content a name will be linked to.
func (p Plan) check(ctx context.Context, i Item) error {
	d, err := digestFile(ctx, p.Target.content(p.Listing, i.File), i.gitSize())
	if err != nil {
		return err
	}
	return d.check(i.File)
}
