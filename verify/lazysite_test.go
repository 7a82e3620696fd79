package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

// unsummed is a store that knows no digests.
type unsummed struct{ blob.Store }

func (u unsummed) Stat(ctx context.Context, key string, pin blob.Pin) (blob.Info, error) {
	info, err := u.Store.Stat(ctx, key, pin)
	info.SHA256 = nil
	return info, err
}

// blobs is how readers of the site read lazy files.
func (s *site) blobs(context.Context, *snapshot.Tree) (verify.Blobs, error) {
	store := unsummed{s.objects}
	return blob.NewFiles(blob.FilesOptions{Store: store, Open: func(_ context.Context, uri string) (blob.Store, string, error) {
		return store, strings.TrimPrefix(uri, "s3://bucket/"), nil
	}}), nil
}

// send keeps a file of the folder as an object.
func (s *site) send(name string, a access.Access) snapshot.Entry {
	s.t.Helper()
	content, err := os.ReadFile(s.path(name))
	s.must(err)
	return s.keep(name, content, a)
}

func (s *site) keep(name string, content []byte, a access.Access) snapshot.Entry {
	s.t.Helper()
	p, list, err := blob.Describe(bytes.NewReader(content))
	s.must(err)
	s.objects.Add(content)
	if list != nil {
		s.objects.Add(list)
	}
	return snapshot.Entry{Path: name, Access: a, Size: p.Size, SHA256: p.SHA256, Lazy: &snapshot.Lazy{Blocks: p.Blocks}}
}

// point pins an object that pointTo put there.
func (s *site) point(p source.Pointer, a access.Access) snapshot.Entry {
	s.t.Helper()
	key := strings.TrimPrefix(p.URI, "s3://bucket/")
	info, err := s.objects.Stat(s.t.Context(), key, blob.Pin{})
	s.must(err)
	r, err := s.objects.Open(s.t.Context(), key, blob.Pin{}, 0, -1)
	s.must(err)
	d, list, err := blob.Describe(r)
	s.must(err)
	if list != nil {
		s.objects.Add(list)
	}
	return snapshot.Entry{Path: p.Path, Access: a, Size: d.Size, SHA256: d.SHA256,
		Lazy: &snapshot.Lazy{Blocks: d.Blocks, Pin: blob.Pin{URI: p.URI, ETag: info.ETag}}}
}

// pointTo configures a pointer to new content.
func (s *site) pointTo(name, key string, content []byte) {
	s.objects.Set(key, content)
	line := 10 + len(s.options.Source.Pointers)
	p := source.Pointer{Path: name, URI: "s3://bucket/" + key, At: access.Place{Path: "chromafs.yaml", Line: line}}
	s.options.Source.Pointers = append(s.options.Source.Pointers, p)
	s.options.Source.Rules = append([]access.Rule{{Glob: name, Access: access.Everyone(), At: p.At}}, s.options.Source.Rules...)
}

// entry is the published one.
func (s *site) entry(name string) snapshot.Entry {
	s.t.Helper()
	i := slices.IndexFunc(s.entries, func(e snapshot.Entry) bool { return e.Path == name })
	if i < 0 {
		s.t.Fatalf("no entry %q", name)
	}
	return s.entries[i]
}

// object changes the object of a lazy file; nil removes it.
func (s *site) object(name string, change func(data []byte) []byte) {
	s.t.Helper()
	p := s.entry(name).Pointer()
	key := blob.Key(p.SHA256)
	if p.URI != "" {
		key = strings.TrimPrefix(p.URI, "s3://bucket/")
	}
	s.alter(key, change)
}

// blockList changes the block list of a lazy file.
func (s *site) blockList(name string, change func(data []byte) []byte) {
	s.t.Helper()
	s.alter(blob.Key(s.entry(name).Lazy.Blocks), change)
}

func (s *site) alter(key string, change func(data []byte) []byte) {
	s.t.Helper()
	r, err := s.objects.Open(s.t.Context(), key, blob.Pin{}, 0, -1)
	s.must(err)
	var data bytes.Buffer
	_, err = data.ReadFrom(r)
	s.must(err)
	s.objects.Set(key, change(data.Bytes()))
}

// fail makes every request fail.
func (s *site) fail(err error) {
	s.objects.Fault(func(_ context.Context, _, key string) error { return &blob.Error{URI: "memory:" + key, Err: err} })
}

// Ways to change an object.
func gone([]byte) []byte         { return nil }
func shorter(data []byte) []byte { return data[:len(data)-1] }
func longer(data []byte) []byte  { return append(data, 'x') }

func flip(at int) func(data []byte) []byte {
	return func(data []byte) []byte {
		data[(at+len(data))%len(data)] ^= 1
		return data
	}
}

// spec is an API description of some size.
func spec(lines int) string {
	var b strings.Builder
	b.WriteString("{\"openapi\": \"3.1.0\", \"x\": [\n")
	for i := range lines {
		fmt.Fprintf(&b, "\"Line %d of %d says secret%d.\",\n", i, lines, i*i)
	}
	b.WriteString("0]}\n")
	return b.String()
}

// largeText does not end with a block.
func largeText() string {
	const line = "This is a line of a file that is fetched in blocks.\n"
	return strings.Repeat(line, (blob.WholeBytes+3*blob.BlockBytes/2)/len(line))
}

// Files of lazySite.
const (
	smallSpec = "api/openapi.json"
	largeFile = "api/large.txt" // in blocks
	pointed   = "elsewhere/model.json"
	staffSpec = "internal/staff.json"
)

// largeSite is lazySite with a file that is fetched in blocks.
func largeSite(t testing.TB) *site {
	s := lazySite(t)
	s.lay(largeFile, largeText())
	s.read()
	s.publish()
	s.objects.Counts()
	return s
}

// lazySite publishes pages and lazy files: an API description, one that is not in the folder, and one for staff.
func lazySite(t testing.TB) *site {
	s := emptySite(t, "")
	s.options.Source.Default = to(access.Everyone())
	s.options.Source.Rules = []access.Rule{{Glob: "internal/**", Access: groups("staff"), At: access.Place{Path: "chromafs.yaml", Line: 3}}}
	s.options.Source.Lazy.Match = []string{"**/*.txt"}
	s.options.Patterns = 10
	s.lay("README.md", "# Read me\n\nSome words to find.\n")
	s.lay("members.md", guarded("members.md", "groups: ['*']"))
	s.lay("internal/plan.md", "# Plan\n\nSome words of staff alone.\n")
	s.lay(smallSpec, spec(3000))
	s.lay(staffSpec, spec(4000))
	s.symlink("latest.json", smallSpec)
	s.pointTo(pointed, "models/one.json", []byte(spec(2500)))
	s.read()
	s.publish()
	s.objects.Counts()
	return s
}
