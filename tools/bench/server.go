package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// server is a Chroma server of the bench's own, with nothing else in it: every search of Chroma scans all collections.
type server struct {
	url  string
	cmd  *exec.Cmd
	data string
}

func (b *bench) startServer(ctx context.Context) (*server, error) {
	script := filepath.Join(b.root, "scripts", "services")
	if out, err := exec.CommandContext(ctx, script, "install").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install Chroma: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	data, err := b.fresh()
	if err != nil {
		return nil, err
	}
	s := &server{url: fmt.Sprintf("http://127.0.0.1:%d", port), data: data, cmd: exec.Command(script, "chroma", fmt.Sprint(port), data)}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if resp, err := http.Get(s.url + "/api/v2/heartbeat"); err == nil {
			resp.Body.Close()
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return nil, errors.New("chroma did not start")
}

// stop ends the server; it keeps nothing, and SIGTERM would leave it spinning.
func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	os.RemoveAll(s.data)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// bare is Chroma's HTTP API without a client library: the floor.
type bare struct {
	http       http.Client
	base       string
	collection string
}

func newBare(url string) *bare {
	return &bare{base: url + "/api/v2/tenants/default_tenant/databases/default_database/collections"}
}

// create makes the collection and remembers its id.
func (c *bare) create(name string) error {
	answer, err := c.post("", map[string]any{"name": name, "get_or_create": true})
	if err != nil {
		return err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	c.collection = "/" + made.ID
	return nil
}

func (c *bare) post(path string, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.postBytes(path, data)
}

func (c *bare) postBytes(path string, data []byte) ([]byte, error) {
	resp, err := c.http.Post(c.base+path, "application/json", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("POST %s: %s: %.300s", path, resp.Status, answer)
	}
	return answer, err
}
