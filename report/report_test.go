package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

func sampleIngest() *ingest.Result {
	return &ingest.Result{
		Snapshot: "s1:abc", Changed: true, Pages: 7425, Chunks: 7429, Bytes: 4_280_000, Written: 7429, Deleted: 3, Audiences: map[string]int{"public": 7400, "groups": 25},
		Ignored: []source.Ignored{{Path: ".git/", Reason: source.DotName}, {Path: "a.png", Reason: source.NotText}, {Path: ".x", Reason: source.DotName}},
	}
}

func TestIngestText(t *testing.T) {
	var out bytes.Buffer
	if err := Ingest(&out, Text, sampleIngest(), false, 1.25); err != nil {
		t.Fatal(err)
	}
	want := `7,425 pages, 7,429 chunks, 4.3 MB in 1.2 s
access: 25 groups, 7,400 public
7,429 records written, 3 deleted
ignored: 1 content can't be chunked, 2 name begins with a dot
published s1:abc
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestIngestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := Ingest(&out, JSON, sampleIngest(), false, 1.25); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"path": ".git/"`, `"reason": "content can't be chunked"`, `"warnings": []`} {
		if !strings.Contains(out.String(), key) {
			t.Errorf("no %s in %s", key, out.String())
		}
	}
	var got struct {
		Snapshot string
		Changed  bool
		Pages    int
		Reasons  map[string]int `json:"ignored_by_reason"`
		Ignored  []struct{ Path, Reason string }
		Seconds  float64
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Snapshot != "s1:abc" || !got.Changed || got.Pages != 7425 || got.Seconds != 1.25 ||
		got.Reasons["name begins with a dot"] != 2 || len(got.Ignored) != 3 || got.Ignored[0].Path != ".git/" {
		t.Errorf("%+v\n%s", got, out.String())
	}
}

func TestVerifyText(t *testing.T) {
	r := &verify.Report{Snapshot: "s1:abc", Files: 2, Folders: 1, Bytes: 10, Patterns: map[verify.Class]int{verify.ClassRare: 3, verify.ClassFold: 4}, Lines: 12}
	var out bytes.Buffer
	if err := Verify(&out, Text, r, 0.5); err != nil {
		t.Fatal(err)
	}
	if want := "ok: 2 files, 1 folder, 10 B, 7 patterns with 12 lines, in 0.5 s; s1:abc\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	r.Findings = []verify.Finding{{Kind: verify.KindMissing, Path: "a\x1b[2J.md", Detail: "not there", Remedy: "run ingest"}}
	r.More = map[verify.Kind]int{verify.KindMissing: 1200}
	out.Reset()
	if err := Verify(&out, Text, r, 0.5); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`missing: "a\x1b[2J.md": not there`, "remedy: run ingest", "missing: 1,200 more", "different: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain é 文":     "plain é 文",
		"a\x1b[2Jb":     `a\x1b[2Jb`,
		"two\nlines":    `two\nlines`,
		"\xff\u202e.md": `\xff\u202e.md`,
		"\uFFFD":        "\uFFFD",
	} {
		if got := Printable(s); got != want {
			t.Errorf("Printable(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestCountAndBytes(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 18_600_000: "18.6 MB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
