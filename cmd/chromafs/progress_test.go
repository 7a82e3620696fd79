package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := progress{out: &out}
	p.show("reading", 1, 3)
	p.show("reading", 2, 3) // too soon to be drawn
	p.show("reading", 3, 3) // the last always is
	p.clear()
	if want := "\r\x1b[Kreading 1 of 3\r\x1b[Kreading 3 of 3\r\x1b[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestProgressThatWasNeverDrawnIsNotCleared(t *testing.T) {
	var out bytes.Buffer
	p := progress{out: &out}
	p.clear()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

func TestProgressElsewhereIsSilent(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stderr")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := newProgress(f)
	p.show("reading", 3, 3)
	p.clear()
	if text, err := os.ReadFile(name); err != nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}
