package verify

import (
	"io/fs"
	"strings"
)

// lookups are all ways to ask for a name. Each fails where nothing is found.
var lookups = []struct {
	name string
	of   func(fsys reader, name string) error
}{
	{"stat", func(fsys reader, name string) error { _, err := fsys.Stat(name); return err }},
	{"lstat", func(fsys reader, name string) error { _, err := fsys.Lstat(name); return err }},
	{"open", func(fsys reader, name string) error {
		f, err := fsys.Open(name)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"read file", func(fsys reader, name string) error { _, err := fsys.ReadFile(name); return err }},
	{"read folder", func(fsys reader, name string) error { _, err := fsys.ReadDir(name); return err }},
	{"read link", func(fsys reader, name string) error { _, err := fsys.ReadLink(name); return err }},
	{"glob", func(fsys reader, name string) error {
		matches, err := fs.Glob(fsys, escape(name))
		if err == nil && len(matches) == 0 {
			err = fs.ErrNotExist
		}
		return err
	}},
}

// escape makes a pattern of path.Match that matches name alone.
func escape(name string) string { return escaper.Replace(name) }

var escaper = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)

// answers are the texts of the errors of all lookups of one name that never was.
type answers struct {
	name  string
	texts []string
}

// answersOf asks for a name that neither side has.
func (r *run) answersOf(fsys reader) answers {
	a := answers{name: "chromafs-verify-absent"}
	for {
		if i := r.tree.Search(a.name); i == r.tree.Len() || !strings.HasPrefix(r.tree.Path(i), a.name) {
			break
		}
		a.name += "-"
	}
	for _, ask := range lookups {
		text := ""
		if err := ask.of(fsys, a.name); err != nil {
			text = err.Error()
		}
		a.texts = append(a.texts, text)
	}
	return a
}

// of is what lookup op should answer to name.
func (a answers) of(op int, name string) string { return strings.ReplaceAll(a.texts[op], a.name, name) }
