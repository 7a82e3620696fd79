package source

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// eachDisk runs a test over the system's fast way of opening files, where there is one, and over the portable one.
func eachDisk(t *testing.T, dir string, opts Options, test func(t *testing.T, f *Folder)) {
	t.Helper()
	t.Run("default", func(t *testing.T) { test(t, open(t, dir, opts)) })
	t.Run("portable", func(t *testing.T) {
		f := open(t, dir, opts)
		f.disk.fast.close()
		f.disk.fast = fastDisk{}
		test(t, f)
	})
}

func TestRead(t *testing.T) {
	content := "---\ntitle: Hello\n---\n# Other\n"
	dir := tree(t, map[string]string{"d/a.MDX": content, "empty.md": "", "spec.yaml": "openapi: 3.1.0\n", "x.json": "{}"})
	eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
		got, err := f.Read("d/a.MDX")
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Content) != content || got.SHA256 != sha256.Sum256([]byte(content)) || got.Path != "d/a.MDX" ||
			got.Kind != Page || got.Title != "Hello" || got.Own != nil || got.Uses != nil || got.MTime != 0 {
			t.Errorf("%+v", got)
		}
		for name, kind := range map[string]Kind{"empty.md": Page, "spec.yaml": Spec, "x.json": Plain} {
			if got, err := f.Read(name); err != nil || got.Kind != kind || got.Title != "" || got.Content == nil {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	})
}

func TestReadLarge(t *testing.T) {
	text := strings.Repeat("é", 2_000_000) + "\n"
	sizes := []int{headBytes - 1, headBytes, headBytes + 1, headBytes + 3, len(text)}
	for _, size := range sizes {
		want := strings.ToValidUTF8("x"+text[:size-1], "")
		dir := tree(t, map[string]string{"p.txt": want})
		eachDisk(t, dir, Options{Check: checkText}, func(t *testing.T, f *Folder) {
			got, err := f.Read("p.txt")
			if err != nil || string(got.Content) != want {
				t.Errorf("%d bytes: %v", size, err)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	long := strings.Repeat("text\n", headBytes)
	dir := tree(t, map[string]string{
		"latin.txt": "caf\xe9", "nul.json": "a\x00", "late.txt": long + "\x00", "early.txt": "\x00" + long, "ok.md": long, "dir/x": "",
	})
	eachDisk(t, dir, Options{Check: checkText}, func(t *testing.T, f *Folder) {
		for name, detail := range map[string]string{"latin.txt": "not UTF-8", "nul.json": "NUL byte", "late.txt": "NUL byte", "early.txt": "NUL byte"} {
			_, err := f.Read(name)
			var ign *Ignored
			if !errors.As(err, &ign) || ign.Reason != NotText || ign.Detail != detail || ign.Path != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, name := range []string{"", ".", "../x", "/etc/hostname", "a//b", "gone.md", "dir", "ok.md/x"} {
			_, err := f.Read(name)
			var inv *Invalid
			if !errors.As(err, &inv) || inv.Path != name {
				t.Errorf("%q: %v", name, err)
			}
		}
		if _, err := f.Read("gone.md"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
			t.Errorf("a vanished file: %v", err)
		}
	})
}

// TestReadHuge must not set aside memory for what it refuses.
func TestReadHuge(t *testing.T) {
	dir := tree(t, map[string]string{"zeros.bin": "", "over.bin": ""})
	for name, size := range map[string]int64{"zeros.bin": maxFile, "over.bin": maxFile + 1} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Skip(err)
		}
	}
	f := open(t, dir, Options{Check: checkText})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, reason := range map[string]Reason{"zeros.bin": NotText, "over.bin": TooLarge} {
		_, err := f.Read(name)
		if ign := (*Ignored)(nil); !errors.As(err, &ign) || ign.Reason != reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("%d bytes allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestReadChanging changes a file between the look at its start and the rest.
func TestReadChanging(t *testing.T) {
	content := strings.Repeat("text\n", headBytes)
	changes := map[string]func(string) error{
		"shrinks":  func(p string) error { return os.Truncate(p, headBytes+1) },
		"grows":    func(p string) error { return os.WriteFile(p, []byte(content+content), 0o644) },
		"replaced": func(p string) error { os.Remove(p); return os.WriteFile(p, []byte("new"), 0o644) },
	}
	for name, change := range changes {
		dir := tree(t, map[string]string{"a.md": content})
		var once sync.Once
		opts := Options{Check: func([]byte) (err error) {
			once.Do(func() { err = change(filepath.Join(dir, "a.md")) })
			return err
		}}
		got, err := open(t, dir, opts).Read("a.md")
		if name == "replaced" { // the old file, whole, is as good an answer
			if err != nil || string(got.Content) != content {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if inv := (*Invalid)(nil); !errors.As(err, &inv) || !errors.Is(err, errChanged) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadNeverFollows swaps what the walk saw for links.
func TestReadNeverFollows(t *testing.T) {
	outside := tree(t, map[string]string{"secret.md": "secret"})
	dir := tree(t, map[string]string{"a.md": "x", "d/secret.md": "x", "in/secret.md": "inner"})
	os.Remove(filepath.Join(dir, "a.md"))
	os.RemoveAll(filepath.Join(dir, "d"))
	if err := errors.Join(os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "a.md")),
		os.Symlink(outside, filepath.Join(dir, "d")), os.Symlink("in/secret.md", filepath.Join(dir, "b.md"))); err != nil {
		t.Skip(err)
	}
	eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
		for _, name := range []string{"a.md", "d/secret.md", "b.md"} {
			got, err := f.Read(name)
			if inv := (*Invalid)(nil); !errors.As(err, &inv) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if _, err := f.disk.readDir("d"); err == nil {
			t.Error("a folder that became a link was listed")
		}
	})
}

func TestChangedIsOneLine(t *testing.T) {
	for cause, want := range map[error]string{
		nil: "changed while it was read", io.EOF: "changed while it was read",
		&fs.PathError{Op: "stat", Path: "x", Err: syscall.EIO}: "changed while it was read: " + syscall.EIO.Error(),
	} {
		if err := changed(cause); !errors.Is(err, errChanged) || err.Error() != want {
			t.Errorf("%v: %q, want %q", cause, err, want)
		}
	}
}

func TestReadConcurrently(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("d%d/p.md", i)] = fmt.Sprintf("# Page %d\n", i)
	}
	f := open(t, tree(t, files), Options{Check: checkText})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			l, err := f.Walk(t.Context())
			if err != nil || len(l.Files) != len(files) {
				t.Errorf("%d files, %v", len(l.Files), err)
				return
			}
			for _, p := range l.Files {
				if got, err := f.Read(p); err != nil || string(got.Content) != files[p] {
					t.Errorf("%s: %v", p, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestWholeRunes(t *testing.T) {
	text := []byte("aé€😀\xff")
	for n := range len(text) {
		got := wholeRunes(text[:n])
		if want := strings.ToValidUTF8(string(text[:n]), ""); string(got) != want {
			t.Errorf("%q: %q, want %q", text[:n], got, want)
		}
	}
	if broken := []byte("a\xff\xff\xff"); !bytes.Equal(wholeRunes(broken), broken) {
		t.Error("bytes that are no start of a character were dropped")
	}
}
