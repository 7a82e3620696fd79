package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// checkLines refuses long lines too, as the chunker does.
func checkLines(content []byte) error {
	for line := range bytes.Lines(content) {
		if len(line) > 16<<10 {
			return errors.New("long line")
		}
	}
	return checkText(content)
}

// outcome is what became of a file in short: "", "lazy: REASON", "ignored: REASON (DETAIL)" or "invalid".
func outcome(f *File, err error) string {
	var ign *Ignored
	switch {
	case errors.As(err, &ign):
		return "ignored: " + string(ign.Reason) + " (" + ign.Detail + ")"
	case err != nil:
		return "invalid"
	case f.Lazy == nil:
		return ""
	}
	return "lazy: " + string(f.Lazy.Reason) + " (" + f.Lazy.Detail + ")"
}

func TestLazy(t *testing.T) {
	spec := func(size int) string { return "openapi: 3.1.0\n" + strings.Repeat("#\n", (size-15)/2) }
	long := strings.Repeat("x", 64<<10)
	cases := []struct {
		name, content, want string
		kind                Kind
	}{
		{"api.yaml", spec(65535), "", Spec},
		{"api/v2.yaml", spec(65537), "lazy: API description over the limit (more than 65536 bytes)", Spec},
		{"no.json", "{\n" + strings.Repeat("\n", 70_000) + "}", "", Plain},
		{"named/a.md", "# A\n", "lazy: named by lazy.match (named)", Page},
		{"named/.b/c.bin", "\x00", "lazy: named by lazy.match (named)", Plain},
		{"named/api.json", spec(70_001), "lazy: named by lazy.match (named)", Spec},
		{"named/empty.md", "", "", Page},
		{"empty.yaml", "", "", Plain},
		{"latin.md", "caf\xe9", "lazy: content can't be chunked (not UTF-8)", Page},
		{"nul.mdx", strings.Repeat("text\n", 2000) + "\x00", "lazy: content can't be chunked (NUL byte)", Page},
		{"line.markdown", "# A\n" + long, "lazy: content can't be chunked (long line)", Page},
		{"late.md", strings.Repeat("text\n", headBytes) + "\xff", "lazy: content can't be chunked (not UTF-8)", Page},
		{"nul.json", `{"openapi":"3.1.0"}` + "\x00", "lazy: content can't be chunked (NUL byte)", Spec},
		{"line.json", `{"x":"` + strings.Repeat("y", 20_000) + `","swagger":"2.0"}`, "lazy: content can't be chunked (long line)", Spec},
		{"one-line.json", `{"x":"` + long + `","swagger":"2.0"}`, "lazy: API description over the limit (more than 65536 bytes)", Spec},
		{"data.json", `{"x":"` + long + `"}`, "ignored: content can't be chunked (long line)", Plain},
		{"a.png", "\x89PNG", "ignored: content can't be chunked (not UTF-8)", Plain},
		{"img/b.png", "\x89PNG", "lazy: content can't be chunked (not UTF-8)", Plain},
		{"img/c.png", "\x89PNG" + long, "lazy: content can't be chunked (long line)", Plain},
		{"img/text.txt", "text\n", "", Plain},
		{"img/.x.png", "\x89PNG", "ignored: content can't be chunked (not UTF-8)", Plain},
	}
	files := map[string]string{}
	for _, c := range cases {
		files[c.name] = c.content
	}
	opts := Options{Check: checkLines, Include: []string{"img/*.png"}, Lazy: LazyOptions{Match: []string{"named"}}}
	eachDisk(t, tree(t, files), opts, func(t *testing.T, f *Folder) {
		for _, c := range cases {
			got, err := f.Read(c.name)
			if o := outcome(got, err); o != c.want {
				t.Errorf("%s: %q, want %q", c.name, o, c.want)
			}
			if err != nil {
				continue
			}
			lazy := got.Lazy != nil
			if got.Kind != c.kind || got.Size != int64(len(c.content)) || got.SHA256 != sha256.Sum256([]byte(c.content)) ||
				(got.Content == nil) != lazy || !lazy && string(got.Content) != c.content {
				t.Errorf("%s: %s, %d bytes, %d of content", c.name, got.Kind, got.Size, len(got.Content))
			}
		}
	})
}

func TestLazySpecBytes(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": "openapi: 3.1.0\n" + strings.Repeat("#\n", 50_000), "nul.yaml": "openapi: 3.1.0\n\x00"})
	for limit, want := range map[int64]string{
		-1: "", 100_014: "lazy: API description over the limit (more than 100014 bytes)", 100_015: "", 1: "lazy: API description over the limit (more than 1 bytes)",
	} {
		f := open(t, dir, Options{Check: checkLines, Lazy: LazyOptions{SpecBytes: limit}})
		if got := outcome(f.Read("a.yaml")); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	f := open(t, dir, Options{Lazy: LazyOptions{SpecBytes: -1}}) // no Check: nothing is refused
	if got := outcome(f.Read("nul.yaml")); got != "" {
		t.Error(got)
	}
}

// encoded is text in units of some bytes each, with a byte order mark or without.
func encoded(text string, width int, order binary.ByteOrder, mark bool) string {
	if mark {
		text = "\ufeff" + text
	}
	var out []byte
	if width == 4 {
		for _, r := range text {
			out = append(out, 0, 0, 0, 0)
			order.PutUint32(out[len(out)-4:], uint32(r))
		}
		return string(out)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, 0, 0)
		order.PutUint16(out[len(out)-2:], unit)
	}
	return string(out)
}

// TestLazyEncodings: whatever a page is written in, what it says of access is read, or nobody sees it.
func TestLazyEncodings(t *testing.T) {
	const marked, silent = "---\r\ntitle: Zoë 😀\r\ngroups: [staff]\r\n---\r\nimport A from './a.mdx'\r\n", "---\ntitle: A\n---\n# B\n"
	le, be := binary.LittleEndian, binary.BigEndian
	const groups = `3:groups=groups "staff"`
	cases := []struct{ name, content, own, title string }{
		{"UTF-16LE", encoded(marked, 2, le, true), groups, "Zoë 😀"},
		{"UTF-16BE", encoded(marked, 2, be, true), groups, "Zoë 😀"},
		{"UTF-16LE, no mark", encoded(marked, 2, le, false), groups, "Zoë 😀"},
		{"UTF-16BE, no mark", encoded(marked, 2, be, false), groups, "Zoë 😀"},
		{"UTF-16LE, silent", encoded(silent, 2, le, true), "", "A"},
		{"UTF-16BE, silent", encoded(silent, 2, be, true), "", "A"},
		{"UTF-16LE, a byte too many", encoded(marked, 2, le, true) + "x", groups, "Zoë 😀"},
		{"UTF-16LE, half a character", encoded(marked, 2, le, true) + "\x3d\xd8", groups, "Zoë 😀"},
		{"UTF-16LE, no end", encoded("---\ngroups: [staff]\n", 2, le, true), "2:fault", ""},
		{"UTF-32LE", encoded(marked, 4, le, true), "1:fault", "-"},
		{"UTF-32BE", encoded(marked, 4, be, true), "1:fault", "-"},
		{"UTF-32LE, no mark", encoded(marked, 4, le, false), "1:fault", "-"},
		{"UTF-32LE, silent", encoded(silent, 4, le, true), "", "-"},
		{"NUL in the delimiter", "-\x00--\ngroups: [staff]\n---\n", "1:fault", "-"},
		{"NUL in the key", "---\ngro\x00ups: [staff]\n---\n", "2:fault", "-"},
		{"NUL in the body", "---\ngroups: [staff]\n---\n\x00", `2:groups=groups "staff"`, ""},
		{"NUL in the body, silent", silent + "\x00", "", "A"},
		{"FF before it", "\xff---\ngroups: [staff]\n---\n", "1:fault", "-"},
		{"Latin-1 body", "---\ngroups: [staff]\n---\ncaf\xe9\n", `2:groups=groups "staff"`, ""},
		{"Latin-1 frontmatter", "---\ntitle: caf\xe9\ngroups: [staff]\n---\n", "1:fault", "-"},
		{"Latin-1, silent", silent + "caf\xe9", "", "A"},
	}
	for _, c := range cases {
		f := open(t, tree(t, map[string]string{"p.md": c.content}), Options{Check: checkLines})
		got, err := f.Read("p.md")
		if err != nil || got.Kind != Page || got.Lazy == nil || got.Lazy.Reason != LazyContent {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if own := said(got.Own); own != c.own || c.title != "-" && got.Title != c.title {
			t.Errorf("%s: %s %q, want %s %q", c.name, own, got.Title, c.own, c.title)
		}
		if strings.HasPrefix(c.name, "UTF-16") && c.own == groups && uses(got) != "5:./a.mdx" {
			t.Errorf("%s: uses %s", c.name, uses(got))
		}
	}
}

// TestLazySpecEncodings: the same of API descriptions.
func TestLazySpecEncodings(t *testing.T) {
	const text = "openapi: 3.1.0\nx-mint:\n  groups: [staff]\npaths: {$ref: 'paths.yaml'}\n"
	f := open(t, tree(t, map[string]string{
		"le.yaml": encoded(text, 2, binary.LittleEndian, true), "be.yml": encoded(text, 2, binary.BigEndian, false),
	}), Options{Check: checkLines})
	for _, name := range []string{"le.yaml", "be.yml"} {
		got, err := f.Read(name)
		if o := outcome(got, err); o != "lazy: content can't be chunked (not UTF-8)" && o != "lazy: content can't be chunked (NUL byte)" {
			t.Errorf("%s: %s", name, o)
			continue
		}
		if got.Kind != Spec || uses(got) != "4:paths.yaml" || parts(got.Uses.Parts) != `3:groups=groups "staff"` {
			t.Errorf("%s: %s %s %+v", name, got.Kind, uses(got), got.Uses)
		}
	}
}

func TestOpenFile(t *testing.T) {
	dir := tree(t, map[string]string{"d/a.bin": "\x00content", "b": ""})
	if err := errors.Join(os.Symlink("b", filepath.Join(dir, "link")), os.Symlink("d", filepath.Join(dir, "dlink"))); err != nil {
		t.Skip(err)
	}
	eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
		r, err := f.OpenFile("d/a.bin")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close(), r.Close()); err != nil || string(content) != "\x00content" {
			t.Errorf("%q, %v", content, err)
		}
		for _, name := range []string{"", ".", "../b", "d", "link", "gone", "b/x"} {
			_, err := f.OpenFile(name)
			if inv := (*Invalid)(nil); !errors.As(err, &inv) || inv.Path != name {
				t.Errorf("%q: %v", name, err)
			}
		}
		if _, err := f.OpenFile("gone"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("gone: %v", err)
		}
	})
}
