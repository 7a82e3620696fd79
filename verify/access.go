package verify

import (
	"context"
	"fmt"

	"github.com/chromafs/chromafs/access"
)

// compareAccess holds every entry, and the default, to what the folder says.
func (r *run) compareAccess(ctx context.Context) error {
	if err := r.resolve(ctx); err != nil {
		return err
	}
	if have := r.tree.Header().Default; !have.Equal(r.def.Access) {
		r.findings.add(KindAccess, "", fmt.Sprintf("the snapshot's default is %s, the folder's is %s", have, because(r.def)))
	}
	classes := r.tree.Classes()
	for i, d := range r.decided {
		if d == nil {
			continue
		}
		if have := classes[r.tree.Class(i)]; !have.Equal(d.Access) {
			r.findings.add(KindAccess, r.tree.Path(i), fmt.Sprintf("for %s in the snapshot, in the folder for %s", have, because(d)))
		}
	}
	return nil
}

// resolve asks the folder who may see what.
func (r *run) resolve(ctx context.Context) error {
	files, links, err := r.survey(ctx)
	if err != nil {
		return err
	}
	pinned := r.tree.Header().Default
	res, err := r.folder.Resolve(files, links, &pinned)
	if err != nil {
		return err
	}
	r.def, r.whole = res.Default, true
	r.decided = make([]*access.Decision, r.tree.Len())
	for k, f := range files {
		r.decide(f.Path, false, res.Files[k])
	}
	for k, l := range links {
		r.decide(l.Path, true, res.Links[k])
	}
	return nil
}

func (r *run) decide(name string, link bool, d *access.Decision) {
	i, ok := r.tree.Find(name)
	if !ok || r.tree.At(i).IsLink() != link {
		r.whole = false
		return
	}
	r.decided[i] = d
}

// because says for whom a decision is, and what decides.
func because(d *access.Decision) string {
	text := fmt.Sprintf("%s: %s", d.Access, d.Reason.Source)
	if at := d.Reason.At; at.Path != "" {
		text += " at " + at.String()
	}
	return text + ", " + d.Reason.Text
}
