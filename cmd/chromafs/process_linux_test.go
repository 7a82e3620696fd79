package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestDiskFull lets the store outgrow its disk, then makes room.
func TestDiskFull(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=400k"); err != nil {
		t.Skipf("a small disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	flags := []string{"--store", filepath.Join(disk, "store")}
	before := pages(t, map[string]string{"a.md": "# One\n"})
	chromafs(t, 0, "", append([]string{"ingest", before}, flags...)...)

	after := pages(t, map[string]string{"a.md": "# Two\n", "b.md": noise(700_000)})
	chromafs(t, exitFailed, "chromafs: hint: make room", append([]string{"ingest", after}, flags...)...)
	stillPublished(t, before, flags...)

	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	chromafs(t, 0, "", append([]string{"ingest", after}, flags...)...)
	chromafs(t, 0, "", append([]string{"verify", after}, flags...)...)
}

// noise is n bytes of lines that hardly compress, the same ones every time.
func noise(n int) string {
	random := rand.NewChaCha8([32]byte{})
	var text strings.Builder
	for text.Len() < n {
		fmt.Fprintf(&text, "%016x%016x\n", random.Uint64(), random.Uint64())
	}
	return text.String()
}

// terminal opens a pseudo-terminal: what is written to tty is read from screen.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	return screen, tty
}

// TestProgressIsDrawn has standard error on a terminal and standard output in a pipe.
func TestProgressIsDrawn(t *testing.T) {
	screen, tty := terminal(t)
	p := newProcess(t, "ingest", pages(t, map[string]string{"a.md": "# One\n"}), "--store", t.TempDir())
	p.Stderr = tty
	drawn := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(screen) // ends with EIO once nobody has the terminal open
		drawn <- string(text)
	}()
	err := p.Run()
	tty.Close()
	text := <-drawn
	if err != nil || !strings.Contains(text, "\r\x1b[K") || !strings.Contains(text, " 1 of 1") {
		t.Errorf("%v, %q", err, text)
	}
	if strings.ContainsAny(p.stdout.String(), "\r\x1b") {
		t.Errorf("in the pipe: %q", &p.stdout)
	}
}

// server is a Chroma of the test's own, which it may kill.
type server struct {
	t    *testing.T
	port int
	data string
	cmd  *exec.Cmd
}

// newServer starts one where scripts/services has installed it.
func newServer(t *testing.T) *server {
	t.Helper()
	if installed, _ := filepath.Glob("../../.cache/services/chroma-*"); len(installed) == 0 {
		t.Skip("no Chroma server to kill: run `scripts/services install`")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: l.Addr().(*net.TCPAddr).Port, data: t.TempDir()}
	l.Close()
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) url() string { return fmt.Sprintf("http://127.0.0.1:%d", s.port) }

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command("../../scripts/services", "chroma", fmt.Sprint(s.port), s.data)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for range 300 {
		if answer, err := http.Get(s.url() + "/api/v2/heartbeat"); err == nil {
			answer.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Fatal("the server does not start")
}

// kill ends the server as a crash would. The script has become the server, so there is no other process.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// TestServerKilled kills the server when the second snapshot's records are about to be written, and starts it again.
func TestServerKilled(t *testing.T) {
	s := newServer(t)
	front := newProxy(t, s.url())
	flags := []string{"--chroma", front.URL, "--collection", "docs", "--access-default", "public"}
	before, after := pages(t, map[string]string{"a.md": "# One\n"}), pages(t, map[string]string{"a.md": "# Two\n"})
	chromafs(t, 0, "", append([]string{"ingest", before}, flags...)...)

	killed := make(chan struct{}, 1)
	front.arm(func(w http.ResponseWriter, _ *http.Request) {
		front.arm(nil)
		s.kill()
		killed <- struct{}{}
		w.WriteHeader(http.StatusBadGateway)
	})
	chromafs(t, exitFailed, "chromafs: hint: is the server running", append([]string{"ingest", after}, flags...)...)
	<-killed
	s.start()
	stillPublished(t, before, flags...)
	chromafs(t, 0, "", append([]string{"ingest", after}, flags...)...)
	chromafs(t, 0, "", append([]string{"verify", after}, flags...)...)
}
