package main

import (
	"errors"
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
			"status": status, "site": site,
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

// site writes a fixture: site starter docs.
func site(ts *testscript.TestScript, _ bool, args []string) {
	s, ok := fixtures.Find(args[0])
	if !ok {
		ts.Fatalf("no fixture %q", args[0])
	}
	ts.Check(s.Write(ts.MkAbs(args[1])))
}
