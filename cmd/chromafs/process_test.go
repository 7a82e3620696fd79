package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/chroma"
)

// process is the real command, run to its end.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// newProcess is chromafs of TestMain with these arguments, not started yet.
func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), "chromafs", append(args, "--config", emptyConfig(t))...)}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	return p
}

// expect wants an exit code and a piece of standard error, after Wait or Run answered err.
func (p *process) expect(t *testing.T, err error, code int, stderr string) {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := p.ProcessState.ExitCode(); got != code || !strings.Contains(p.stderr.String(), stderr) {
		t.Fatalf("%q: exit code %d, want %d with %q\n%s%s", p.Args, got, code, stderr, &p.stdout, &p.stderr)
	}
}

// chromafs runs the command and wants its exit code.
func chromafs(t *testing.T, code int, stderr string, args ...string) *process {
	t.Helper()
	p := newProcess(t, args...)
	p.expect(t, p.Run(), code, stderr)
	return p
}

// stillPublished wants dir to be what readers get. Records that were written for what was not published may be there.
func stillPublished(t *testing.T, dir string, flags ...string) {
	t.Helper()
	p := newProcess(t, append([]string{"verify", "--format", "json", dir}, flags...)...)
	err := p.Run()
	var proved proof
	if jsonErr := json.Unmarshal(p.stdout.Bytes(), &proved); jsonErr != nil || proved.Files == 0 {
		t.Fatalf("verify: %v, %v\n%s%s", err, jsonErr, &p.stdout, &p.stderr)
	}
	for _, f := range proved.Findings {
		if f.Kind != "record-extra" {
			t.Errorf("%+v", f)
		}
	}
}

// pages writes a folder of pages from contents by name.
func pages(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// proxy stands before a real Chroma and calls onWrite for each upsert once it is armed, which answers it by itself.
type proxy struct {
	*httptest.Server
	mu      sync.Mutex
	onWrite http.HandlerFunc
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p, forward := &proxy{}, httputil.NewSingleHostReverseProxy(to)
	forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		onWrite := p.onWrite
		p.mu.Unlock()
		if onWrite != nil && strings.HasSuffix(r.URL.Path, "/upsert") {
			onWrite(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) arm(onWrite http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onWrite = onWrite
}

// TestInterrupt sends SIGINT while the server keeps a write waiting.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals on Windows")
	}
	c := newCollection(t)
	server := newProxy(t, c.Chroma)
	flags := []string{"--chroma", server.URL, "--collection", c.Collection, "--access-default", "public"}
	before, after := pages(t, map[string]string{"a.md": "# One\n"}), pages(t, map[string]string{"a.md": "# Two\n"})
	chromafs(t, 0, "", append([]string{"ingest", before}, flags...)...)

	writing := make(chan struct{}, 1)
	server.arm(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees that its client has gone only after the body
		select {
		case writing <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	})
	p := newProcess(t, append([]string{"ingest", after}, flags...)...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case <-writing:
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		p.expect(t, <-ended, exitInterrupted, "interrupted; readers have a whole snapshot")
	case err := <-ended:
		p.expect(t, err, exitInterrupted, "") // it never came to a write
	}
	server.arm(nil)
	chromafs(t, 0, "", append([]string{"verify", before}, flags...)...)
	chromafs(t, 0, "", append([]string{"ingest", after}, flags...)...)
	chromafs(t, 0, "", append([]string{"verify", after}, flags...)...)
}

// TestForeignCollection: records that somebody else keeps under the names of our pages are never written over.
func TestForeignCollection(t *testing.T) {
	c := newCollection(t)
	store, err := chroma.Open(t.Context(), chroma.Options{URL: c.Chroma, Collection: c.Collection, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	theirs := index.Record{ID: "theirs", Document: "text", Metadata: index.Metadata{PageSlug: "a.md", Groups: []string{"*"}}}
	if err := store.Upsert(t.Context(), []index.Record{theirs}); err != nil {
		t.Fatal(err)
	}
	dir := pages(t, map[string]string{"a.md": "# One\n"})
	flags := []string{"--chroma", c.Chroma, "--collection", c.Collection, "--access-default", "public"}
	chromafs(t, exitFailed, "collection holds other records of the same pages", append([]string{"ingest", dir}, flags...)...)
	ids, err := store.IDs(t.Context(), "", "")
	if err != nil || len(ids) != 1 || ids[0] != "theirs" {
		t.Errorf("the collection holds %q, %v", ids, err)
	}
}

// TestProgressGoesToNoPipe uses a site for which there is news to show.
func TestProgressGoesToNoPipe(t *testing.T) {
	dir := pages(t, map[string]string{"a.md": "# One\n"})
	store := t.TempDir()
	for _, name := range []string{"ingest", "verify"} {
		p := chromafs(t, 0, "", name, dir, "--store", store)
		if strings.ContainsAny(p.stderr.String()+p.stdout.String(), "\r\x1b") {
			t.Errorf("%s: %q", name, p.stderr.String())
		}
	}
}
