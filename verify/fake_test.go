package verify

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/vfs"
)

// permissive is a filesystem that takes every write, and lists in any order that it is given.
type permissive struct {
	fstest.MapFS
	list []fs.DirEntry
	err  error
}

func (p permissive) ReadDir(name string) ([]fs.DirEntry, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.list != nil {
		return p.list, nil
	}
	return p.MapFS.ReadDir(name)
}

func (permissive) Candidates([]string) []vfs.Candidate { return nil }

func (permissive) OpenFile(string, int, fs.FileMode) (fs.File, error) { return os.Open(os.DevNull) }
func (permissive) Create(string) (fs.File, error)                     { return os.Open(os.DevNull) }
func (permissive) WriteFile(string, []byte, fs.FileMode) error        { return nil }
func (permissive) Mkdir(string, fs.FileMode) error                    { return nil }
func (permissive) MkdirAll(string, fs.FileMode) error                 { return nil }
func (permissive) Remove(string) error                                { return fs.ErrNotExist }
func (permissive) RemoveAll(string) error                             { return nil }
func (permissive) Rename(string, string) error                        { return fs.ErrPermission }
func (permissive) Symlink(string, string) error                       { return nil }
func (permissive) Link(string, string) error                          { return nil }
func (permissive) Chmod(string, fs.FileMode) error                    { return nil }
func (permissive) Chown(string, int, int) error                       { return nil }
func (permissive) Chtimes(string, time.Time, time.Time) error         { return nil }
func (permissive) Truncate(string, int64) error                       { return nil }

// fakeRun is a run over a folder with a.md, b.md and a link, before anything is compared.
func fakeRun(t *testing.T, fsys reader) *run {
	t.Helper()
	dir := t.TempDir()
	var entries []snapshot.Entry
	for _, name := range []string{"a.md", "b.md"} {
		if err := os.WriteFile(dir+"/"+name, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, snapshot.Entry{Path: name, Access: access.Everyone(), Size: 4, SHA256: [32]byte{1}, Chunks: 1})
	}
	tree, err := snapshot.New(snapshot.Header{Default: access.Everyone()}, entries)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := source.Open(dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return &run{
		Options: Options{Dir: dir}.withDefaults(), findings: newFindings(50), folder: folder, tree: tree, fsys: fsys,
		report: &Report{Ignored: make(map[source.Reason]int)}, seen: make([]bool, tree.Len()), state: make([]state, tree.Len()),
	}
}

func (r *run) found(kind Kind, path, detail string) bool {
	list, _ := r.findings.sorted()
	return slices.ContainsFunc(list, func(f Finding) bool {
		return f.Kind == kind && f.Path == path && strings.Contains(f.Detail, detail)
	})
}

func TestWriteThatIsTaken(t *testing.T) {
	r := fakeRun(t, permissive{})
	if err := r.tryWrites(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, _ := r.findings.sorted()
	if r.report.Writes == 0 || len(list) != min(50, r.report.Writes) {
		t.Fatalf("%d writes, %d findings", r.report.Writes, len(list))
	}
	for op, err := range writes(permissive{}, ".") {
		detail := op + " was answered by"
		if errors.Is(err, fs.ErrNotExist) {
			detail = "remove was answered by file does not exist"
		}
		if !r.found(KindWrite, ".", detail) {
			t.Errorf("not found: %s", detail)
		}
	}
}

func TestListingsThatAreWrong(t *testing.T) {
	file := func(name string) fs.DirEntry {
		m := fstest.MapFS{name: {}}
		info, err := m.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return fs.FileInfoToDirEntry(info)
	}
	tests := []struct {
		name   string
		fsys   permissive
		path   string
		detail string
	}{
		{"out of order", permissive{list: []fs.DirEntry{file("b.md"), file("a.md")}}, ".", `"b.md" is listed before "a.md"`},
		{"twice", permissive{list: []fs.DirEntry{file("a.md"), file("a.md"), file("b.md")}}, ".", `"a.md" is listed before "a.md"`},
		{"not listed", permissive{list: []fs.DirEntry{file("a.md")}}, "b.md", "not shown to readers"},
		{"name of its own", permissive{list: []fs.DirEntry{file("a.md"), file("b.md"), file("c.md")}}, "c.md", "nor in the folder"},
		{"fails", permissive{err: errors.New("broken")}, ".", "broken"},
	}
	for _, tt := range tests {
		r := fakeRun(t, tt.fsys)
		if err := r.compareFolders(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !r.found(KindListing, tt.path, tt.detail) {
			list, _ := r.findings.sorted()
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
}

// lying is a filesystem that adds to the sizes it tells.
type lying struct {
	permissive
	listed, stat int64
}

type resized struct {
	fs.FileInfo
	by int64
}

func (r resized) Size() int64 { return r.FileInfo.Size() + r.by }

func (l lying) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := l.permissive.ReadDir(name)
	for i, d := range list {
		info, err := d.Info()
		if err != nil {
			return nil, err
		}
		list[i] = fs.FileInfoToDirEntry(resized{info, l.listed})
	}
	return list, err
}

func (l lying) Stat(name string) (fs.FileInfo, error) {
	info, err := l.permissive.Stat(name)
	if err != nil {
		return nil, err
	}
	return resized{info, l.stat}, nil
}

func TestSizesThatAreWrong(t *testing.T) {
	files := permissive{MapFS: fstest.MapFS{"a.md": {Data: []byte("a.md")}, "b.md": {Data: []byte("b.md")}}}
	for _, tt := range []struct {
		name   string
		fsys   lying
		detail string
		want   int
	}{
		{"right", lying{files, 0, 0}, "", 0},
		{"listed", lying{files, 7, 0}, "listed with 11 bytes, in the snapshot it has 4", 2},
		{"stat", lying{files, 0, -4}, "stat answers with 0 bytes, in the snapshot it has 4", 2},
		{"both", lying{files, 7, 7}, "stat answers with 11 bytes", 4},
	} {
		r := fakeRun(t, tt.fsys)
		if err := r.compareFolders(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, _ := r.findings.sorted()
		if len(list) != tt.want || tt.want > 0 && !(r.found(KindSize, "a.md", tt.detail) && r.found(KindSize, "b.md", tt.detail)) {
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
}

// TestReadersGetOtherBytes has a reader that returns wrong content without an error.
func TestReadersGetOtherBytes(t *testing.T) {
	r := fakeRun(t, permissive{MapFS: fstest.MapFS{"a.md": {Data: []byte("A.MD")}}})
	r.bases = []int{0, 1, 2}
	s := scan{run: r, searches: &searches{}}
	entry := snapshot.Entry{Path: "a.md", Access: access.Everyone(), Size: 4, SHA256: sha("a.md"), Chunks: 1}
	tree, err := snapshot.New(snapshot.Header{}, []snapshot.Entry{entry})
	if err != nil {
		t.Fatal(err)
	}
	r.tree = tree
	if err := s.page(0, []*index.Record{{ID: tree.IDs(0)[0], Document: "a.md"}}, r.fsys); err != nil {
		t.Fatal(err)
	}
	if !r.found(KindContent, "a.md", "other bytes") {
		list, _ := r.findings.sorted()
		t.Fatalf("%+v", list)
	}
}

func TestFindingsKeepTheFirst(t *testing.T) {
	f := newFindings(2)
	for _, path := range []string{"d", "b", "b", "a", "c"} {
		f.add(KindSize, path, "wrong")
	}
	list, more := f.sorted()
	if len(list) != 2 || list[0].Path != "a" || list[1].Path != "b" || more[KindSize] != 2 {
		t.Fatalf("%+v, %v more", list, more)
	}
}

func TestEveryKindHasARemedy(t *testing.T) {
	for kind, remedy := range remedies {
		if remedy == "" || strings.HasSuffix(remedy, ".") {
			t.Errorf("%s: %q", kind, remedy)
		}
	}
	if len(remedies) != 22 {
		t.Errorf("%d kinds", len(remedies))
	}
}
