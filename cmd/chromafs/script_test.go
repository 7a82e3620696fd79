package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/chromafs/chromafs/fixtures"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"chromafs": main})
}

func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "site": site, "damage": damage,
		},
	})
}

// status runs a command and demands its exit code: status 3 chromafs ingest empty.
func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// damage changes the first byte of every file of a folder: damage blobs.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	damaged := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		damaged++
		text[0] ^= 1
		return os.WriteFile(name, text, 0o600)
	}))
	if damaged == 0 {
		ts.Fatalf("nothing to damage in %s", args[0])
	}
}

// site writes a fixture: site starter docs.
func site(ts *testscript.TestScript, _ bool, args []string) {
	s, ok := fixtures.Find(args[0])
	if !ok {
		ts.Fatalf("no fixture %q", args[0])
	}
	ts.Check(s.Write(ts.MkAbs(args[1])))
}
