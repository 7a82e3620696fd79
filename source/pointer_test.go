package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
)

// pointers are to those paths, as from the lines of a configuration from 1 on.
func pointers(paths ...string) (list []Pointer) {
	for i, p := range paths {
		list = append(list, Pointer{Path: p, URI: fmt.Sprintf("s3://b/%d", i), At: access.Place{Path: "chromafs.yaml", Line: i + 1}})
	}
	return list
}

func TestPointers(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.md": "", "d/b.md": "", "d/e/c.md": "", ".gitignore": "*.iso\nbuild/\n", "x.iso": "", "build/y": "", "chromafs.yaml": "", "é/f": "",
	})
	if err := errors.Join(os.Symlink("d", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "empty"), 0o755)); err != nil {
		t.Skip(err)
	}
	good := []string{"z.json", "d/a.bin", "new/folder/v.mp4", "x.iso", "build/y", ".hidden", "node_modules/m", "empty", "d.md", "a.md2"}
	opts := Options{Exclude: []string{"drafts", "**/secret.*"}, Rules: []access.Rule{{Glob: "**", Access: access.Everyone()}}}
	opts.Pointers = pointers(good...)
	f := open(t, dir, opts)
	l := list(t, f)
	var got []string
	for _, p := range l.Pointers {
		got = append(got, p.Path)
		if i := slices.Index(good, p.Path); p.URI != fmt.Sprintf("s3://b/%d", i) {
			t.Errorf("%s is at %s", p.Path, p.URI)
		}
		if err := l.Explain(p.Path); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(got, slices.Sorted(slices.Values(good))) || len(l.Invalid) > 0 || slices.ContainsFunc(l.Ignored, func(i Ignored) bool { return i.Path == "x.iso" }) {
		t.Errorf("pointers %q, invalid %v, ignored %v", got, l.Invalid, l.Ignored)
	}

	cases := []struct {
		paths []string
		want  string // line and end of the error of the only one
	}{
		{[]string{""}, "1 malformed path"},
		{[]string{"ok", "."}, "2 malformed path"},
		{[]string{"/a"}, "1 malformed path"},
		{[]string{"a/../b"}, "1 malformed path"},
		{[]string{"a//b"}, "1 malformed path"},
		{[]string{"\xff"}, "1 malformed path"},
		{[]string{"a\x00"}, "1 malformed path"},
		{[]string{strings.Repeat("d/", maxPath/2) + "f"}, "1 path of more than 4000 bytes"},
		{[]string{"a.md"}, "1 the folder has a file or link of that path"},
		{[]string{"link"}, "1 the folder has a file or link of that path"},
		{[]string{"chromafs.yaml"}, "1 the folder has a file or link of that path"},
		{[]string{"d"}, "1 the folder has files below that path"},
		{[]string{"d/e"}, "1 the folder has files below that path"},
		{[]string{"a.md/b"}, `1 it is below "a.md", which is no folder`},
		{[]string{"d/b.md/c/d"}, `1 it is below "d/b.md", which is no folder`},
		{[]string{"link/b"}, `1 it is below "link", which is no folder`},
		{[]string{"p", "q", "p"}, "3 another pointer has that path"},
		{[]string{"p/q/r", "p.x", "p"}, `1 it is below "p", which is no folder`},
	}
	for _, c := range cases {
		opts.Pointers = pointers(c.paths...)
		l := list(t, open(t, dir, opts))
		if len(l.Invalid) != 1 || len(l.Pointers) != len(c.paths)-1 {
			t.Errorf("%q: invalid %v, pointers %v", c.paths, l.Invalid, l.Pointers)
			continue
		}
		inv := l.Invalid[0]
		if got := fmt.Sprint(inv.Line, inv.Err); inv.Path != "chromafs.yaml" || !strings.HasPrefix(fmt.Sprint(inv.Line, " ", inv.Err), c.want[:1]+" lazy.pointers: ") || !strings.HasSuffix(got, c.want[1:]) {
			t.Errorf("%q: %v, want %s", c.paths, &inv, c.want)
		}
		if err := l.Explain("chromafs.yaml"); err != nil {
			t.Errorf("%q: the configuration is explained by %v", c.paths, err)
		}
	}
}

func TestPointersExcluded(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "", "drafts/b": "", "secret.txt": ""})
	f := open(t, dir, Options{Exclude: []string{"drafts", "**/secret.*", "gone"}, Pointers: pointers("drafts/x", "d/secret.iso", "secret.txt", "gone/y", "a.bin")})
	l := list(t, f)
	want := []Ignored{{"d/secret.iso", Excluded, "**/secret.*"}, {"drafts/", Excluded, "drafts"}, {"gone/y", Excluded, "gone"}, {"secret.txt", Excluded, "**/secret.*"}}
	if !slices.Equal(l.Ignored, want) || len(l.Invalid) > 0 || len(l.Pointers) != 1 || l.Pointers[0].Path != "a.bin" {
		t.Errorf("ignored %q, invalid %v, pointers %v", l.Ignored, l.Invalid, l.Pointers)
	}
	for _, name := range []string{"drafts/x", "d/secret.iso", "gone/y"} {
		if err := l.Explain(name); !errors.As(err, new(*Ignored)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPointersNeedRules: what could say of itself who may see it, and is not read, must be ruled on.
func TestPointersNeedRules(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": ""})
	staff := access.Access{Groups: []string{"staff"}}
	for name, want := range map[string]bool{"b.md": false, "b.MDX": false, "b.json": false, "b.yaml": false, "b.pdf": true, "ruled/b.md": true, "ruled/b.json": true} {
		f := open(t, dir, Options{Pointers: pointers(name), Rules: []access.Rule{{Glob: "ruled", Access: staff}}})
		l := list(t, f)
		if (len(l.Pointers) == 1) != want || (len(l.Invalid) == 0) != want {
			t.Errorf("%s: %v, invalid %v", name, l.Pointers, l.Invalid)
		}
		if !want && (!errors.Is(l.Invalid[0].Err, errUnruled) || l.Invalid[0].Path != "chromafs.yaml" || l.Invalid[0].Line != 1) {
			t.Errorf("%s: %v", name, l.Invalid[0])
		}
	}
}

// TestPointersAccess: rules, the navigation, pages that show a description, and links reach pointers as they do files.
func TestPointersAccess(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.md":      "---\ngroups: [staff]\nopenapi: api.json GET /a\n---\n",
		"docs.json": `{"navigation": {"groups": [{"group": "g", "public": false, "pages": ["m.bin"]}]}}`,
	})
	if err := os.Symlink("api.json", filepath.Join(dir, "l.json")); err != nil {
		t.Skip(err)
	}
	staff := access.Access{Groups: []string{"staff"}}
	everyone := access.Everyone()
	f := open(t, dir, Options{
		Pointers: pointers("api.json", "m.bin", "rest.bin", "ruled/a.bin"), Default: &everyone,
		Rules: []access.Rule{{Glob: "*.json", Access: everyone}, {Glob: "ruled", Access: staff}},
	})
	l := list(t, f)
	if got, want := fmt.Sprint(l.PointerFacts()), fmt.Sprint([]Facts{{Path: "api.json", Kind: Spec}, {Path: "m.bin", Kind: Plain}, {Path: "rest.bin", Kind: Plain}, {Path: "ruled/a.bin", Kind: Plain}}); got != want {
		t.Errorf("facts %s, want %s", got, want)
	}
	s, err := f.Survey(t.Context(), l)
	if err != nil || len(s.Files) != 6 || len(s.Links) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]access.Access{
		"api.json": staff, "ruled/a.bin": staff, "a.md": staff, "m.bin": access.SignedIn(), "rest.bin": everyone,
	} {
		if d := r.Find(name); d == nil || !d.Access.Equal(want) || s.Explain(name) != nil {
			t.Errorf("%s: %+v, want %s", name, d, want)
		}
	}
	if behind, ok := r.Behind("l.json"); !ok || behind != "api.json" {
		t.Errorf("the link leads to %q", behind)
	}
	if _, err := f.Read("m.bin"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v", err)
	}
}
