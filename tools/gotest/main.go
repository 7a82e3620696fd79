// Command gotest runs go test with the arguments after -- and prints what it prints, then what plain go test leaves out:
// how many tests ran, and which were skipped for what reason. With -must-run, a test that was skipped for a reason
// matching the pattern is a failure.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
)

func main() {
	var mustRun *regexp.Regexp
	flag.Func("must-run", "`pattern` of the reasons for which no test may be skipped", func(s string) (err error) {
		mustRun, err = regexp.Compile(s)
		return err
	})
	flag.Parse()
	cmd := exec.Command("go", append([]string{"test", "-json"}, flag.Args()...)...)
	ok, err := run(os.Stdout, mustRun, cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest: error:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// run follows cmd, a go test -json, on out. It reports whether cmd succeeded and no test was skipped for a reason that
// mustRun matches; nil matches none.
func run(out io.Writer, mustRun *regexp.Regexp, cmd *exec.Cmd) (bool, error) {
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	s := newSummary(out)
	readErr := s.read(stdout)
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	s.print()
	banned := s.banned(mustRun)
	return cmd.ProcessState.Success() && !banned, errors.Join(readErr, err)
}
