// Package blobtest is the conformance suite that every blob.Store passes, and a store in memory for tests.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/chromafs/chromafs/blob"
)

// Run tests the stores that open makes. Each is empty, and stays usable until the end of the test that open is given.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	parts := []struct {
		name string
		test func(*testing.T, blob.Store)
	}{
		{"round trips", testRoundTrips},
		{"ranges", testRanges},
		{"refused content", testRefused},
		{"keep and replace", testKeep},
		{"concurrent puts", testConcurrent},
		{"missing", testMissing},
		{"cancelled", testCancelled},
		{"cancelled while it reads", testCancelledReading},
		{"cancelled while it is written", testCancelledWriting},
		{"keys", testKeys},
		{"hostile keys", testHostileKeys},
		{"send", testSend},
		{"pins", testPins},
		{"replaced while it is read", testReplacedReading},
	}
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
}

// Bytes are size bytes that look random and are the same for the same size and seed.
func Bytes(size int, seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	data := make([]byte, size)
	_, _ = rand.NewChaCha8(key).Read(data) // it never fails
	return data
}

// ContentOf is what a store is to keep of data.
func ContentOf(data []byte) blob.Content {
	return blob.Content{
		Size:   int64(len(data)),
		SHA256: sha256.Sum256(data),
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func put(t *testing.T, s blob.Store, key string, data []byte, replace bool) {
	t.Helper()
	if err := s.Put(t.Context(), key, ContentOf(data), replace); err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

func read(ctx context.Context, s blob.Store, key string, pin blob.Pin, offset, length int64) ([]byte, error) {
	body, err := s.Open(ctx, key, pin, offset, length)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// expect wants the object to be data, or to be missing if data is nil.
func expect(t *testing.T, s blob.Store, key string, data []byte) {
	t.Helper()
	info, err := s.Stat(t.Context(), key, blob.Pin{})
	if data == nil {
		if !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("stat %q: %+v, error %v, want %v", key, info, err, blob.ErrNotFound)
		}
		return
	}
	if err != nil || info.Size != int64(len(data)) {
		t.Fatalf("stat %q: %+v, error %v, want size %d", key, info, err, len(data))
	}
	if info.SHA256 != nil && *info.SHA256 != sha256.Sum256(data) {
		t.Errorf("stat %q has the digest of something else", key)
	}
	if got, err := read(t.Context(), s, key, blob.Pin{}, 0, -1); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q is %d bytes, error %v, want %d or they differ", key, len(got), err, len(data))
	}
}

func testRoundTrips(t *testing.T, s blob.Store) {
	for i, size := range []int{0, 1, blob.BlockBytes - 1, blob.BlockBytes, blob.BlockBytes + 1, blob.WholeBytes + 1} {
		data := Bytes(size, 1)
		key := fmt.Sprintf("size/%d", i)
		put(t, s, key, data, false)
		expect(t, s, key, data)
	}
}

func testRanges(t *testing.T, s blob.Store) {
	const size = 300_000
	data := Bytes(size, 2)
	put(t, s, "ranges", data, false)
	put(t, s, "empty", nil, false)
	cases := []struct{ offset, length int64 }{
		{0, 1}, {0, 1000}, {0, size - 1}, {0, size}, {0, size + 1}, {0, -1},
		{1, 1}, {150_000, 65_537}, {150_000, -1}, {150_000, size}, {150_000, 1 << 50}, {150_000, -1 << 50},
		{size - 1, 1}, {size - 1, 2}, {size - 1, -1},
		{size, 1}, {size, -1}, {size + 1, 1}, {size + 1, -1}, {1 << 50, 1 << 50},
		{0, 0}, {150_000, 0}, {size, 0},
	}
	for _, c := range cases {
		want := data[min(c.offset, size):]
		if c.length >= 0 {
			want = want[:min(c.length, int64(len(want)))]
		}
		if got, err := read(t.Context(), s, "ranges", blob.Pin{}, c.offset, c.length); err != nil || !bytes.Equal(got, want) {
			t.Errorf("offset %d length %d: %d bytes, error %v, want %d or they differ", c.offset, c.length, len(got), err, len(want))
		}
		if got, err := read(t.Context(), s, "empty", blob.Pin{}, c.offset, c.length); err != nil || len(got) != 0 {
			t.Errorf("of an empty object, offset %d length %d: %d bytes, error %v", c.offset, c.length, len(got), err)
		}
	}
}

var errContent = errors.New("the content fails")

// failing ends with an error after data.
func failing(data []byte, err error) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(data), readerFunc(func([]byte) (int, error) { return 0, err }))), nil
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// testRefused puts what is not what it says, on nothing and on an object.
func testRefused(t *testing.T, s blob.Store) {
	for i, size := range []int{0, 1, 100_000, blob.WholeBytes + 1} {
		good := Bytes(size, 3)
		content := func(size int64, open func() (io.ReadCloser, error)) blob.Content {
			return blob.Content{Size: size, SHA256: sha256.Sum256(good), Open: open}
		}
		exact := ContentOf(good).Open
		cases := []struct {
			name    string
			content blob.Content
			want    error
		}{
			{"short", content(int64(size)+1, exact), blob.ErrShort},
			{"long", content(int64(size), ContentOf(append(good, 0)).Open), blob.ErrTrailing},
			{"other bytes", content(int64(size)+7, ContentOf(Bytes(size+7, 4)).Open), blob.ErrDigest},
			{"failing at the start", content(int64(size)+1, failing(nil, errContent)), errContent},
			{"failing in the middle", content(int64(size)+1, failing(good, errContent)), errContent},
			{"failing at the end", content(int64(size), failing(good, errContent)), errContent},
			{"failing to open", content(int64(size), func() (io.ReadCloser, error) { return nil, errContent }), errContent},
		}
		for k, c := range cases {
			key := fmt.Sprintf("refused/%d/%d", i, k)
			for _, old := range [][]byte{nil, []byte("old")} {
				if old != nil {
					put(t, s, key, old, false)
				}
				if err := s.Put(t.Context(), key, c.content, old != nil); !errors.Is(err, c.want) {
					t.Errorf("%d bytes, %s: error %v, want %v", size, c.name, err, c.want)
				}
				expect(t, s, key, old)
			}
		}
	}
}

func testKeep(t *testing.T, s blob.Store) {
	put(t, s, "a/b", []byte("one"), false)
	put(t, s, "a/b", []byte("another"), false)
	expect(t, s, "a/b", []byte("one"))
	put(t, s, "a/b", []byte("another"), true)
	expect(t, s, "a/b", []byte("another"))
	put(t, s, "a/c", []byte("new"), true)
	expect(t, s, "a/c", []byte("new"))
}

// testConcurrent puts several objects under one key at one time: one of them, whole, is there at the end.
func testConcurrent(t *testing.T, s blob.Store) {
	for _, replace := range []bool{false, true} {
		key := fmt.Sprintf("concurrent/%v", replace)
		contents := [][]byte{Bytes(200_000, 5), Bytes(200_000, 5), Bytes(blob.BlockBytes, 6), Bytes(1, 7)}
		errs := make(chan error)
		for _, data := range contents {
			go func() { errs <- s.Put(t.Context(), key, ContentOf(data), replace) }()
		}
		for range contents {
			if err := <-errs; err != nil {
				t.Errorf("replace %v: %v", replace, err)
			}
		}
		got, err := read(t.Context(), s, key, blob.Pin{}, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		whole := false
		for _, data := range contents {
			whole = whole || bytes.Equal(got, data)
		}
		if !whole {
			t.Errorf("replace %v: %d bytes that nobody put", replace, len(got))
		}
	}
}

// ask makes every kind of request for a key.
func ask(ctx context.Context, s blob.Store, key string) map[string]error {
	_, stat := s.Stat(ctx, key, blob.Pin{})
	_, start := read(ctx, s, key, blob.Pin{}, 0, -1)
	_, middle := read(ctx, s, key, blob.Pin{}, 3, 4)
	return map[string]error{
		"stat": stat, "open": start, "open a range": middle,
		"put": s.Put(ctx, key, ContentOf([]byte("content")), false), "replace": s.Put(ctx, key, ContentOf([]byte("content")), true),
	}
}

func testMissing(t *testing.T, s blob.Store) {
	put(t, s, "there/is", []byte("one"), false)
	for _, key := range []string{"missing", "there/missing", "there", "there/is/not", blob.Key([32]byte{1})} {
		_, stat := s.Stat(t.Context(), key, blob.Pin{ETag: `"x"`})
		_, open := read(t.Context(), s, key, blob.Pin{}, 0, -1)
		_, ranged := read(t.Context(), s, key, blob.Pin{}, 3, 4)
		for _, err := range []error{stat, open, ranged} {
			named := (*blob.Error)(nil)
			if !errors.Is(err, blob.ErrNotFound) || !errors.As(err, &named) || named.URI != s.URI(key) {
				t.Errorf("%q: error %v", key, err)
			}
		}
	}
}

func testCancelled(t *testing.T, s blob.Store) {
	put(t, s, "there", []byte("one"), false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, err := range ask(ctx, s, "there") {
		if named := (*blob.Error)(nil); !errors.Is(err, context.Canceled) || errors.As(err, &named) {
			t.Errorf("%s: error %v", op, err)
		}
	}
	expect(t, s, "there", []byte("one"))
}

// testCancelledReading ends the context before all is read.
func testCancelledReading(t *testing.T, s blob.Store) {
	put(t, s, "large", Bytes(blob.WholeBytes+1, 8), false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, err := s.Open(ctx, "large", blob.Pin{}, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if _, err := io.CopyN(io.Discard, body, 10); err != nil {
		t.Fatal(err)
	}
	cancel()
	if n, err := io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes more, error %v", n, err)
	}
}

// testCancelledWriting ends the context before all is given.
func testCancelledWriting(t *testing.T, s blob.Store) {
	data := Bytes(blob.WholeBytes+1, 9)
	for _, old := range [][]byte{nil, []byte("old")} {
		if old != nil {
			put(t, s, "cancelled", old, false)
		}
		ctx, cancel := context.WithCancel(t.Context())
		content := ContentOf(data)
		content.Open = func() (io.ReadCloser, error) {
			end := readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF })
			return io.NopCloser(io.MultiReader(bytes.NewReader(data[:len(data)/2]), end, bytes.NewReader(data[len(data)/2:]))), nil
		}
		if err := s.Put(ctx, "cancelled", content, old != nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		expect(t, s, "cancelled", old)
		cancel()
	}
}

func testKeys(t *testing.T, s blob.Store) {
	keys := []string{"a", "b/c", "b/d/e/f", blob.Key([32]byte{2}), "...", "..a/b..", "with space+%25&=?#", "Ünï/コード"}
	seen := map[string]string{}
	for _, key := range keys {
		put(t, s, key, []byte(key), false)
		if other, ok := seen[s.URI(key)]; ok {
			t.Errorf("%q and %q are both %s", key, other, s.URI(key))
		}
		seen[s.URI(key)] = key
	}
	for _, key := range keys {
		expect(t, s, key, []byte(key))
	}
}

func testHostileKeys(t *testing.T, s blob.Store) {
	hostile := []string{
		"", ".", "..", "/", "../up", "a/../../up", "a/..", "a/./b", "./a", "/etc/absolute", "a//b", "a/", "a\x00", "a\x00/b",
		`a\b`, `..\up`, `\a`, "\xff",
	}
	put(t, s, "a", []byte("good"), false)
	for _, key := range hostile {
		for op, err := range ask(t.Context(), s, key) {
			if named := (*blob.Error)(nil); !errors.As(err, &named) {
				t.Errorf("%s %q: error %v", op, key, err)
			}
		}
	}
	expect(t, s, "a", []byte("good"))
	for _, key := range []string{"up", "b", "a/b", "etc/absolute"} {
		expect(t, s, key, nil)
	}
}

func testSend(t *testing.T, s blob.Store) {
	data := Bytes(200_000, 10)
	content := ContentOf(data)
	key, opened := blob.Key(content.SHA256), 0
	open := content.Open
	content.Open = func() (io.ReadCloser, error) { opened++; return open() }
	send := func(replace, want bool) {
		t.Helper()
		opened = 0
		if sent, err := blob.Send(t.Context(), s, content, replace); err != nil || sent != want || (opened > 0) != want {
			t.Errorf("sent %v, error %v, content opened %d times", sent, err, opened)
		}
		expect(t, s, key, data)
	}
	send(false, true)
	send(false, false)
	send(true, true)
	put(t, s, key, data[:100], true)
	send(false, true)
}

// testPins holds objects to what the store says of them.
func testPins(t *testing.T, s blob.Store) {
	one, two := Bytes(200_000, 11), Bytes(200_000, 12)
	put(t, s, "pinned", one, false)
	old, err := s.Stat(t.Context(), "pinned", blob.Pin{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(pin blob.Pin, want error) {
		t.Helper()
		_, stat := s.Stat(t.Context(), "pinned", pin)
		_, open := read(t.Context(), s, "pinned", pin, 0, -1)
		_, ranged := read(t.Context(), s, "pinned", pin, 100, 100)
		for _, err := range []error{stat, open, ranged} {
			if !errors.Is(err, want) {
				t.Errorf("%+v: error %v, want %v", pin, err, want)
			}
		}
	}
	check(blob.Pin{URI: "s3://no/matter"}, nil)
	check(blob.Pin{ETag: `"0123456789abcdef0123456789abcdef"`}, blob.ErrChanged)
	if old.ETag == "" {
		return
	}
	check(blob.Pin{ETag: old.ETag}, nil)
	check(blob.Pin{ETag: old.ETag, Version: old.Version}, nil)
	put(t, s, "pinned", two, true)
	check(blob.Pin{ETag: old.ETag}, blob.ErrChanged)
	now, err := s.Stat(t.Context(), "pinned", blob.Pin{})
	if err != nil || now.ETag == old.ETag {
		t.Errorf("the ETag of other bytes: %q, error %v", now.ETag, err)
	}
}

// testReplacedReading replaces an object that is being read: what comes is the old one or an error.
func testReplacedReading(t *testing.T, s blob.Store) {
	old := Bytes(blob.WholeBytes+1, 13)
	put(t, s, "replaced", old, false)
	info, err := s.Stat(t.Context(), "replaced", blob.Pin{})
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.Open(t.Context(), "replaced", blob.Pin{ETag: info.ETag}, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	start := make([]byte, 10)
	if _, err := io.ReadFull(body, start); err != nil {
		t.Fatal(err)
	}
	put(t, s, "replaced", Bytes(blob.WholeBytes+1, 14), true)
	rest, err := io.ReadAll(body)
	if err != nil && !errors.Is(err, blob.ErrChanged) || err == nil && !bytes.Equal(append(start, rest...), old) {
		t.Errorf("%d bytes of something else, error %v", len(rest), err)
	}
}
