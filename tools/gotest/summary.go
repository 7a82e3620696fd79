package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// test names one test or subtest.
type test struct{ pkg, name string }

// summary follows a run of go test and prints its output without what passing tests wrote.
type summary struct {
	out      io.Writer
	output   map[test]*strings.Builder // of the tests still running
	packages map[string]bool
	passed   int
	failed   []test
	skipped  map[string][]test // by reason
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[test]*strings.Builder{}, packages: map[string]bool{}, skipped: map[string][]test{}}
}

// read takes events until the end of r.
func (s *summary) read(r io.Reader) error {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			s.take(e)
		} else {
			fmt.Fprintf(s.out, "%s", line)
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s *summary) take(e event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(s.out, e.Output)
	case e.Test == "":
		s.takePackage(e)
	case e.Action == "output":
		if s.output[t] == nil {
			s.output[t] = &strings.Builder{}
		}
		if !strings.HasPrefix(e.Output, "=== ") {
			s.output[t].WriteString(e.Output)
		}
	case e.Action == "pass":
		s.passed++
		delete(s.output, t)
	case e.Action == "fail":
		s.failed = append(s.failed, t)
		s.flush(t)
	case e.Action == "skip":
		why := reason(s.output[t])
		s.skipped[why] = append(s.skipped[why], t)
		delete(s.output, t)
	}
}

func (s *summary) takePackage(e event) {
	switch e.Action {
	case "output":
		if strings.HasPrefix(e.Output, "FAIL\t") {
			s.flushPackage(e.Package)
		}
		if e.Output != "PASS\n" {
			fmt.Fprint(s.out, e.Output)
		}
	case "pass", "fail":
		s.packages[e.Package] = true
	}
}

// flushPackage prints what tests without a verdict wrote: a panic or a timeout ends a package before they have one.
func (s *summary) flushPackage(pkg string) {
	for _, t := range slices.SortedFunc(maps.Keys(s.output), test.compare) {
		if t.pkg == pkg {
			s.flush(t)
		}
	}
}

func (s *summary) flush(t test) {
	if b := s.output[t]; b != nil {
		fmt.Fprint(s.out, b.String())
	}
	delete(s.output, t)
}

func (t test) compare(u test) int { return strings.Compare(t.pkg+" "+t.name, u.pkg+" "+u.name) }

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is what a skipped test said, in one line and without the place in the source.
func reason(output *strings.Builder) string {
	var said []string
	if output != nil {
		for line := range bytes.Lines([]byte(output.String())) {
			text := strings.TrimSpace(place.ReplaceAllString(string(line), ""))
			if text != "" && !strings.HasPrefix(text, "--- SKIP") {
				said = append(said, text)
			}
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// shown is how many skipped tests are named for each reason.
const shown = 8

// print writes the counts and the skipped tests.
func (s *summary) print() {
	skipped := 0
	for _, tests := range s.skipped {
		skipped += len(tests)
	}
	fmt.Fprintf(s.out, "\n%d tests passed, %d failed, %d skipped in %d packages\n", s.passed, len(s.failed), skipped, len(s.packages))
	for _, why := range slices.Sorted(maps.Keys(s.skipped)) {
		tests := s.skipped[why]
		fmt.Fprintf(s.out, "skipped: %s\n", why)
		for _, t := range tests[:min(shown, len(tests))] {
			fmt.Fprintf(s.out, "    %s %s\n", t.pkg, t.name)
		}
		if more := len(tests) - shown; more > 0 {
			fmt.Fprintf(s.out, "    and %d more\n", more)
		}
	}
}

// banned reports, and says, whether a test was skipped for a reason that the pattern matches; nil matches none.
func (s *summary) banned(pattern *regexp.Regexp) bool {
	found := false
	for _, why := range slices.Sorted(maps.Keys(s.skipped)) {
		if pattern != nil && pattern.MatchString(why) {
			fmt.Fprintf(s.out, "FAIL: skipped, but has to run here: %s\n", why)
			found = true
		}
	}
	return found
}
