//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights to what others keep for themselves.
const nobody = 65534

// unprivileged makes p run as a user who is refused what mode 000 refuses.
func unprivileged(t *testing.T, p *process) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	// The test's own folders and its copy of the command lie in folders that only root may enter.
	self, err := exec.LookPath("chromafs")
	if err != nil {
		t.Fatal(err)
	}
	enter(t, filepath.Dir(filepath.Dir(self)))
	enter(t, filepath.Dir(t.TempDir()))
	p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func enter(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadable: what can't be read fails the ingest, is named, and leaves what was published.
func TestUnreadable(t *testing.T) {
	for _, locked := range []string{"locked.md", "locked"} {
		t.Run(locked, func(t *testing.T) {
			dir := pages(t, map[string]string{"a.md": "# One\n"})
			store := t.TempDir()
			if err := os.Chmod(store, 0o777); err != nil {
				t.Fatal(err)
			}
			flags := []string{dir, "--store", filepath.Join(store, "store")}
			first := newProcess(t, append([]string{"ingest"}, flags...)...)
			unprivileged(t, first)
			readable(t, first)
			err := first.Run()
			if errors.Is(err, fs.ErrPermission) {
				t.Skipf("other users can't get at temporary folders here: %v", err)
			}
			first.expect(t, err, 0, "")

			lock(t, filepath.Join(dir, locked))
			second := newProcess(t, append([]string{"ingest"}, flags...)...)
			unprivileged(t, second)
			readable(t, second)
			second.expect(t, second.Run(), exitFailed, locked)
			if !strings.Contains(second.stderr.String(), "permission denied") {
				t.Errorf("%s", &second.stderr)
			}
			if err := os.RemoveAll(filepath.Join(dir, locked)); err != nil {
				t.Fatal(err)
			}
			chromafs(t, 0, "", append([]string{"verify"}, flags...)...)
		})
	}
}

// readable lets the unprivileged user read the configuration file that newProcess made.
func readable(t *testing.T, p *process) {
	t.Helper()
	if err := os.Chmod(p.Args[len(p.Args)-1], 0o644); err != nil {
		t.Fatal(err)
	}
}

// lock makes a page, or a folder of one page, that only root may open.
func lock(t *testing.T, path string) {
	t.Helper()
	err := os.WriteFile(path, []byte("# Locked\n"), 0)
	if filepath.Ext(path) == "" {
		if err = os.Remove(path); err == nil {
			err = os.Mkdir(path, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
