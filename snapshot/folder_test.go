package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The layout is that of the format document, to the byte.
func TestFolderLayout(t *testing.T) {
	dir := t.TempDir()
	a, b := mustNew(t, Header{Site: "v2"}, files("a")), mustNew(t, Header{Site: "v2"}, files("b"))
	f := &Folder{Dir: dir, Site: "v2"}
	publish(t, f, a, day)
	publish(t, f, b, day.In(time.FixedZone("east", 3600)))
	hex := strings.TrimPrefix(b.Digest(), "s1:")
	want := `{"format":"chromafs.current","version":1,"minReader":1,"digest":"s1:` + hex + `","file":"` + hex +
		`.path-tree.json.gz","publishedAt":"2026-01-02T03:04:05Z","retiring":["` + a.Digest() + `"]}` + "\n"
	if got := read(t, filepath.Join(dir, "sites", "v2", "current.json")); got != want {
		t.Errorf("pointer %s\nwant %s", got, want)
	}
	file, err := os.Open(filepath.Join(dir, "sites", "v2", hex+".path-tree.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if tree, err := Decode(file, Limits{}); err != nil || tree.Digest() != b.Digest() {
		t.Errorf("snapshot file: %v", err)
	}
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestPointerFileRefused(t *testing.T) {
	p := pointer{digest: digestPrefix + strings.Repeat("1", 64), at: day, retiring: []string{digestPrefix + strings.Repeat("2", 64)}}
	name, err := fileName(p.digest)
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.json(name, currentVersion)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	if got, err := parseCurrent(data); err != nil || got.digest != p.digest || !got.at.Equal(day) || len(got.retiring) != 1 {
		t.Fatalf("pointer comes back as %+v, error %v", got, err)
	}
	vectors := []struct {
		defect, old, new string
		want             error
	}{
		{"empty", good, "", ErrMalformed},
		{"cut", "}\n", "", ErrMalformed},
		{"no line end", "}\n", "}", ErrMalformed},
		{"space", `":1`, `": 1`, ErrMalformed},
		{"data after", "}\n", "}\n{}", ErrMalformed},
		{"newer", `"minReader":1`, `"minReader":2`, ErrVersion},
		{"another format", "chromafs.current", "x", ErrMalformed},
		{"version 0", `"version":1`, `"version":0`, ErrMalformed},
		{"minReader 0", `"minReader":1`, `"minReader":0`, ErrMalformed},
		{"no digest", p.digest, "", ErrMalformed},
		{"digest of another kind", p.digest, "s2:" + p.digest[3:], ErrMalformed},
		{"file elsewhere", name, "../" + name, ErrMalformed},
		{"file of another digest", name, strings.Repeat("3", 64) + fileSuffix, ErrMalformed},
		{"no time", "2026-01-02T03:04:05Z", "", ErrMalformed},
		{"time of another zone", "05Z", "05+01:00", ErrMalformed},
		{"fractions of a second", "05Z", "05.5Z", ErrMalformed},
		{"key missing", `,"retiring":["` + p.retiring[0] + `"]`, ``, ErrMalformed},
		{"retiring null", `["` + p.retiring[0] + `"]`, `null`, ErrMalformed},
		{"retiring no digest", p.retiring[0], "x", ErrMalformed},
		{"retiring itself", p.retiring[0], p.digest, ErrMalformed},
		{"key unknown", `"version"`, `"what":1,"version"`, ErrMalformed},
		{"key twice", `"version":1`, `"version":1,"version":1`, ErrMalformed},
		{"key in another case", `"version"`, `"Version"`, ErrMalformed},
	}
	for _, v := range vectors {
		bad := strings.Replace(good, v.old, v.new, 1)
		if bad == good {
			t.Fatalf("%s changes nothing", v.defect)
		}
		if got, err := parseCurrent([]byte(bad)); !errors.Is(err, v.want) {
			t.Errorf("%s: got %+v, error %v, want %v", v.defect, got, err, v.want)
		}
	}
}

// A disk that fails leaves no temporary file behind, but for a process that died; the next publish removes those.
func TestFolderTemporaryFiles(t *testing.T) {
	r := folderRig(t)
	a, b := twoTrees(t, "")
	temps := func() (n int) {
		for _, name := range r.names(t) {
			if strings.HasPrefix(name, tempPrefix) {
				n++
			}
		}
		return n
	}
	died := 0
	for _, dead := range []bool{false, true} {
		for at := 1; ; at++ {
			publish(t, r.open(""), a, day)
			if n := temps(); n > 1 {
				t.Fatalf("before step %d: %d temporary files stay", at, n)
			}
			r.fault.set(at, dead)
			err := r.open("").Publish(context.Background(), b, day)
			left := temps()
			if steps := r.fault.set(1<<60, false); steps < at {
				break
			}
			if err == nil || left > 0 && !dead {
				t.Fatalf("step %d: error %v, %d temporary files", at, err, left)
			}
			died += left
		}
	}
	if died == 0 {
		t.Error("no process died with a temporary file")
	}
}

// What the disk says is in the error, and so is the name.
func TestFolderErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := &Folder{Dir: filepath.Join(dir, "below")}
	tree := mustNew(t, Header{}, nil)
	var pathErr *fs.PathError
	if err := f.Publish(context.Background(), tree, day); !errors.As(err, &pathErr) || !strings.Contains(err.Error(), dir) {
		t.Errorf("publish below a file: %v", err)
	}
	if _, err := f.Load(context.Background()); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("load below a file: %v", err)
	}
	f = &Folder{Dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(f.Dir, currentName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(context.Background(), tree, day); err == nil || !strings.Contains(err.Error(), currentName) {
		t.Errorf("pointer is a folder: %v", err)
	}
}

// What a killed run left goes; what is the user's stays.
func TestPublishRemovesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".tmp-notes", "notes", tempPrefix + "123"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, tempPrefix+"folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, _ := twoTrees(t, "")
	publish(t, &Folder{Dir: dir}, a, day)
	for name, want := range map[string]bool{".tmp-notes": true, "notes": true, tempPrefix + "folder": true, tempPrefix + "123": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
}
