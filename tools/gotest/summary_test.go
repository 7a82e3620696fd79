package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func stream(t *testing.T, events ...event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

var events = []event{
	{Action: "start", Package: "p"},
	{Action: "run", Package: "p", Test: "TestPass"},
	{Action: "output", Package: "p", Test: "TestPass", Output: "=== RUN   TestPass\n"},
	{Action: "output", Package: "p", Test: "TestPass", Output: "    a_test.go:1: chatter\n"},
	{Action: "output", Package: "p", Test: "TestPass", Output: "--- PASS: TestPass (0.00s)\n"},
	{Action: "pass", Package: "p", Test: "TestPass"},
	{Action: "output", Package: "p", Test: "TestSkip", Output: "=== RUN   TestSkip\n"},
	{Action: "output", Package: "p", Test: "TestSkip", Output: "    a_test.go:12: no server: run up\n"},
	{Action: "output", Package: "p", Test: "TestSkip", Output: "--- SKIP: TestSkip (0.00s)\n"},
	{Action: "skip", Package: "p", Test: "TestSkip"},
	{Action: "skip", Package: "p", Test: "TestSilent"},
	{Action: "output", Package: "p", Output: "PASS\n"},
	{Action: "output", Package: "p", Output: "ok  \tp\t0.010s\n"},
	{Action: "pass", Package: "p"},
}

var failing = []event{
	{Action: "build-output", Output: "c.go:1: syntax error\n"},
	{Action: "output", Package: "q", Test: "TestFail", Output: "=== RUN   TestFail\n"},
	{Action: "output", Package: "q", Test: "TestFail", Output: "    b_test.go:2: 1 is not 2\n"},
	{Action: "output", Package: "q", Test: "TestFail", Output: "--- FAIL: TestFail (0.00s)\n"},
	{Action: "fail", Package: "q", Test: "TestFail"},
	{Action: "output", Package: "q", Test: "TestPanic", Output: "panic: boom\n"},
	{Action: "output", Package: "q", Output: "FAIL\tq\t0.010s\n"},
	{Action: "fail", Package: "q"},
}

func summarise(t *testing.T, text string) (*summary, string) {
	t.Helper()
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s.print()
	return s, out.String()
}

func TestSummaryOfAPass(t *testing.T) {
	s, got := summarise(t, stream(t, events...))
	const want = "ok  \tp\t0.010s\n\n1 tests passed, 0 failed, 2 skipped in 1 packages\n" +
		"skipped: no reason given\n    p TestSilent\nskipped: no server: run up\n    p TestSkip\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if s.banned(nil) || s.banned(regexp.MustCompile("docker")) {
		t.Error("banned without a match")
	}
	if !s.banned(regexp.MustCompile("run up")) {
		t.Error("a skip that had to run was let through")
	}
}

func TestSummaryOfAFailure(t *testing.T) {
	s, got := summarise(t, "not JSON\n"+stream(t, failing...))
	const want = "not JSON\nc.go:1: syntax error\n    b_test.go:2: 1 is not 2\n--- FAIL: TestFail (0.00s)\npanic: boom\n" +
		"FAIL\tq\t0.010s\n\n0 tests passed, 1 failed, 0 skipped in 1 packages\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(s.failed) != 1 {
		t.Errorf("failed: %v", s.failed)
	}
}

func TestSummaryNamesAFewSkips(t *testing.T) {
	var many []event
	for range shown + 2 {
		many = append(many, event{Action: "skip", Package: "p", Test: "T"})
	}
	_, got := summarise(t, stream(t, many...))
	if strings.Count(got, "p T\n") != shown || !strings.Contains(got, "and 2 more") {
		t.Errorf("%s", got)
	}
}

// TestMain lets the test's own binary stand in for go test: it prints one variable and exits with the code in another.
func TestMain(m *testing.M) {
	if out, ok := os.LookupEnv("GOTEST_STDOUT"); ok {
		fmt.Print(out)
		code, _ := strconv.Atoi(os.Getenv("GOTEST_EXIT"))
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	skips := regexp.MustCompile("no server")
	cases := []struct {
		name    string
		events  []event
		exit    string
		mustRun *regexp.Regexp
		want    bool
	}{
		{"passes", events, "0", nil, true},
		{"skips nothing that matters", events, "0", regexp.MustCompile("docker"), true},
		{"skips what must run", events, "0", skips, false},
		{"fails", failing, "1", nil, false},
		{"fails without a word", nil, "1", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GOTEST_STDOUT="+stream(t, c.events...), "GOTEST_EXIT="+c.exit)
			var out strings.Builder
			if got, err := run(&out, c.mustRun, cmd); got != c.want || err != nil {
				t.Errorf("%v, %v; want %v\n%s", got, err, c.want, &out)
			}
		})
	}
	if ok, err := run(io.Discard, nil, exec.Command("./no-such-command")); ok || err == nil {
		t.Error("a run that could not start passed")
	}
}
