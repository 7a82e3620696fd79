package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// small makes a folder stream what is over so many bytes.
func small(f *Folder, whole int) *Folder {
	f.whole = whole
	return f
}

// pieces are what random files are made of, by extension.
var pieces = map[string][]string{
	".json": {`"$ref": "a/%d.yaml#/x", `, `"$ref":"#/b",`, "\n", " ", `{"x": "%d", `, "é", `$ref: ../c%d.json` + "\n", "$refs", `"` + strings.Repeat("y", 9000) + `"`},
	".js":   {"import a from './a%d'\n", "text %d\n", "const b = require('./b/%d')\n", "\n", "export * from \"./c%d\"\n", strings.Repeat("z", 9000) + "\n"},
	".md": {"import a from './a%d.mdx'\n", "text %d\n", "```\n", "<Snippet file=\"s%d.mdx\" />", "\n", "{%% include \"i%d.md\" %%}\n", "# Title %d\n",
		"<!--@include: ./v%d.md-->", strings.Repeat("word ", 2000) + "\n", "é", "---\n", "~~~\n"},
	".txt": {"text %d\n", "\n", strings.Repeat("w", 9000) + "\n"},
}

func randomFile(rng *rand.Rand, ext, head string, size int) string {
	var b strings.Builder
	b.WriteString(head)
	from := pieces[ext]
	for b.Len() < size {
		piece := from[rng.IntN(len(from))]
		if strings.Contains(piece, "%d") {
			piece = fmt.Sprintf(piece, rng.IntN(40))
		}
		b.WriteString(piece)
	}
	return b.String()
}

// TestStreamIsWhole: a file that is streamed is what it would be if it were read whole.
func TestStreamIsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	repo := newRepo(t)
	heads := map[string][]string{
		".json": {"{\"openapi\":\"3.1.0\",\n", "{"}, ".js": {""}, ".txt": {""},
		".md": {"", "---\ntitle: T\ngroups: [staff]\n---\n", "---\npublic: x\n---\n", "\ufeff---\ntitle: T\n---\n# T\n", "\n---\ngroups: [a]\n---\n"},
	}
	files := map[string]string{}
	for range 30 {
		ext := []string{".json", ".js", ".md", ".txt"}[rng.IntN(4)]
		text := randomFile(rng, ext, heads[ext][rng.IntN(len(heads[ext]))], 1+rng.IntN(300_000))
		if rng.IntN(2) == 0 {
			at := rng.IntN(len(text) + 1)
			text = text[:at] + []string{"\x00", "\xff"}[rng.IntN(2)] + text[at:]
		}
		files[fmt.Sprintf("%d%s", len(files), ext)] = text
	}
	files["changed5.md"] = strings.Repeat("text\n", 50_000)
	repo.commit(t, files)
	write(t, repo.dir, "changed5.md", files["changed5.md"]+"x")
	opts := Options{Check: checkText, Include: []string{"**/*.js"}, Lazy: LazyOptions{Match: []string{"*[05].*"}}}
	whole, stream := open(t, repo.dir, opts), open(t, repo.dir, opts)
	l := list(t, whole)
	list(t, stream)
	streamed := 0
	for _, name := range l.Files {
		small(stream, 20_000+rng.IntN(60_000))
		want, wantErr := whole.Read(name)
		got, err := stream.Read(name)
		if o := outcome(got, err); reason(o) != reason(outcome(want, wantErr)) {
			t.Errorf("%s: %s, whole %s", name, o, outcome(want, wantErr))
			continue
		}
		if err != nil {
			continue
		}
		if got.Lazy != nil && got.Size > int64(stream.whole) {
			streamed++
		}
		if got.SHA256 != want.SHA256 || got.Size != want.Size || got.MTime != want.MTime || (got.MTime == 0) != (name == "changed5.md") || got.Kind != want.Kind || !bytes.Equal(got.Content, want.Content) {
			t.Errorf("%s: %d bytes of %d, MTime %d, want %d", name, got.Size, want.Size, got.MTime, want.MTime)
		}
		if !reflect.DeepEqual(got.Own, want.Own) && (got.Own == nil || got.Own.Fault == nil) {
			t.Errorf("%s: says %s, whole %s", name, said(got.Own), said(want.Own))
		}
		testUses(t, got, want)
	}
	if streamed < 10 {
		t.Errorf("only %d files were streamed", streamed)
	}
}

// reason cuts the detail off an outcome.
func reason(outcome string) string {
	text, _, _ := strings.Cut(outcome, " (")
	return text
}

// testUses wants all uses of a file that was read whole, and of data no others.
func testUses(t *testing.T, got, want *File) {
	t.Helper()
	if isData(got.Path) && !reflect.DeepEqual(got.Uses, want.Uses) {
		t.Errorf("%s: uses %s, whole %s", got.Path, uses(got), uses(want))
	}
	if want.Uses == nil {
		return
	}
	for _, u := range want.Uses.Files {
		same := func(v Use) bool { return v.Target == u.Target && v.Spec == u.Spec && v.Line <= u.Line }
		if got.Uses == nil || !slices.ContainsFunc(got.Uses.Files, same) {
			t.Errorf("%s: no use of %q at line %d", got.Path, u.Target, u.Line)
		}
	}
}

// TestStreamFaults: what a large page or description may say where it is not read is a fault.
func TestStreamFaults(t *testing.T) {
	const whole = 20 << 10
	fill := strings.Repeat("text text\n", 20_000)
	cases := []struct{ name, content, own, parts string }{
		{"p.md", "---\ngroups: [staff]\n---\n" + fill + "\x00", `2:groups=groups "staff"`, ""},
		{"p.md", "---\ntitle: T\n---\n" + fill + "\x00", "", ""},
		{"p.md", "---\ntitle: T\n" + fill + "groups: [staff]\n---\n\x00", "1:fault", ""},
		{"p.md", "---\n" + fill + "\x00", "1:fault", ""},
		{"p.md", "\n---\ngroups: [staff]\n" + fill + "---\n\x00", "3:fault", ""},
		{"a.json", "{\"openapi\":\"3.1.0\",\n" + fill + "\"x-mint\": {\"href\": 1}}\x00", "", "20002:fault"},
		{"a.json", "{\"openapi\":\"3.1.0\",\n" + fill + "\"x-min\": {\"groups\": 1}}\x00", "", ""},
		{"p.md", encoded("---\ngroups: [staff]\n---\n"+fill, 2, binary.LittleEndian, true), `2:groups=groups "staff"`, ""},
		{"a.yml", encoded("openapi: 3.1.0\n"+fill+"x-mint: 1\n", 2, binary.BigEndian, true), "", "20002:fault"},
		{"p.md", encoded("---\ngroups: [staff]\n---\n"+fill, 4, binary.LittleEndian, true), "1:fault", ""},
		{"a.yaml", "openapi: 3.1.0\nx-mint:\n  groups: [a]\n" + fill, "", "2:fault"},
	}
	for _, c := range cases {
		f := small(open(t, tree(t, map[string]string{c.name: c.content}), Options{Check: checkText}), whole)
		got, err := f.Read(c.name)
		if err != nil || got.Lazy == nil {
			t.Errorf("%.40q: %s", c.content, outcome(got, err))
			continue
		}
		got.Content = []byte(c.content)
		testFacts(t, got)
		var found string
		if got.Uses != nil {
			found = parts(got.Uses.Parts)
		}
		if own := said(got.Own); own != c.own || found != c.parts {
			t.Errorf("%.40q: says %q %q, want %q %q", c.content, own, found, c.own, c.parts)
		}
	}
}

// TestStreamRefuses what shows more than can be known.
func TestStreamRefuses(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\n")
	for i := range maxStreamUses {
		fmt.Fprintf(&b, "$ref: %d.yaml\n", i)
	}
	fill := strings.Repeat("text\n", 50_000)
	f := small(open(t, tree(t, map[string]string{
		"most.yaml": b.String(), "more.yaml": b.String() + "$ref: x.yaml\n",
		"late.md": fill + "--8<--\na.md\n--8<--\n\x00", "early.md": "--8<--\na.md\n" + fill + "\x00", "one.md": fill + "--8<-- 'a.md'\n\x00",
	}), Options{Check: checkText}), 100<<10)
	for name, want := range map[string]error{"most.yaml": nil, "more.yaml": errLargeUses, "late.md": errLargeList, "early.md": errLargeList, "one.md": nil} {
		got, err := f.Read(name)
		if !errors.Is(err, want) || err != nil && !errors.As(err, new(*Invalid)) {
			t.Errorf("%s: %s, %v", name, outcome(got, err), err)
		}
	}
}

// TestStreamRefusal says where a fault is that only a later window shows.
func TestStreamRefusal(t *testing.T) {
	f := small(open(t, tree(t, map[string]string{"p.md": strings.Repeat("text\n", 100_000) + "\x00"}), Options{Check: checkText}), 1<<10)
	want := "lazy: content can't be chunked (behind line 8"
	if got := outcome(f.Read("p.md")); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ": NUL byte)") {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestStreamChanging changes a file while it is streamed.
func TestStreamChanging(t *testing.T) {
	content := strings.Repeat("text\n", 100_000)
	changes := map[string]func(string) error{
		"shrinks": func(p string) error { return os.Truncate(p, headBytes+1) },
		"grows":   func(p string) error { return os.WriteFile(p, []byte(content+content), 0o644) },
	}
	for name, change := range changes {
		dir := tree(t, map[string]string{"a.md": content})
		opts := Options{Check: func([]byte) error { return errors.Join(errors.New("no"), change(filepath.Join(dir, "a.md"))) }}
		_, err := small(open(t, dir, opts), 1<<10).Read("a.md")
		if inv := (*Invalid)(nil); !errors.As(err, &inv) || !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStreamLarge holds files that are really over the limit, at the real size of the windows.
func TestStreamLarge(t *testing.T) {
	const size = wholeBytes + 1<<20
	fill := strings.Repeat(strings.Repeat("a line of text in a large file ", 100)+"\n", size/3101+1)
	dir := tree(t, map[string]string{
		"p.md":      "---\ngroups: [staff]\n---\n<Snippet file='a' />\n" + fill + "<Snippet file='b' />\n\xff",
		"api.json":  `{"openapi":"3.1.0","paths":{"$ref":"` + strings.Repeat(" ", 10) + `a.json","x":"` + strings.Repeat("y", size) + `"},"z":{"$ref":"z.json"}}`,
		"plain.txt": fill + "\xff",
	})
	f := open(t, dir, Options{Check: checkLines, Lazy: LazyOptions{Match: []string{"named"}}})
	last := strings.Count(fill, "\n") + 5
	for name, want := range map[string]string{
		"p.md": "lazy: content can't be chunked", "api.json": "lazy: API description over the limit",
		"plain.txt": "ignored: content can't be chunked",
	} {
		got, err := f.Read(name)
		if reason(outcome(got, err)) != want {
			t.Errorf("%s: %s, want %s", name, outcome(got, err), want)
			continue
		}
		if content, _ := os.ReadFile(filepath.Join(dir, name)); err == nil && got.SHA256 != sha256.Sum256(content) {
			t.Errorf("%s: another sum", name)
		}
		switch name {
		case "p.md":
			if own, u := said(got.Own), uses(got); own != `2:groups=groups "staff"` || u != fmt.Sprintf("4:/snippets/a 4:/_snippets/a %[1]d:/snippets/b %[1]d:/_snippets/b", last) {
				t.Errorf("%s: says %s, uses %s", name, own, u)
			}
		case "api.json":
			if u := uses(got); u != "1:a.json 1:z.json" {
				t.Errorf("%s: uses %s", name, u)
			}
		}
	}
}

// TestStreamHuge: a lazy file may be larger than any other.
func TestStreamHuge(t *testing.T) {
	text := strings.Repeat("text\n", 50_000)
	dir := tree(t, map[string]string{"named.txt": text, "other.txt": text, "data.json": text, "page.md": text, "bin.md": text + "\x00", "bin.json": text + "\x00"})
	f := small(open(t, dir, Options{Check: checkText, Lazy: LazyOptions{Match: []string{"named.*"}}}), 50_000)
	f.most = 200_000
	for name, want := range map[string]string{
		"named.txt": "lazy: named by lazy.match", "other.txt": "ignored: too large", "data.json": "ignored: too large", "page.md": "ignored: too large",
		"bin.md": "lazy: content can't be chunked", "bin.json": "ignored: content can't be chunked",
	} {
		if got := outcome(f.Read(name)); reason(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzWindows compares the uses in the windows with those in the whole.
func FuzzWindows(f *testing.F) {
	f.Add([]byte("$ref: a/b.yaml\n\"$ref\": \"c.json#/x\"\n$refs"), 3, 100)
	f.Add([]byte("{\"$ref\" : 'x/y'}\r\n$ref"), 1, 70_000)
	f.Fuzz(func(t *testing.T, text []byte, fresh, repeat int) {
		if fresh < 1 || fresh > 1<<20 || repeat < 0 || repeat*len(text) > 1<<18 {
			return
		}
		text = bytes.Repeat(text, 1+repeat)
		var whole, parts useList
		whole.addRefs(text, 1, len(text))
		w := newWindows(bytes.NewReader(text), fresh)
		for steps := 0; !w.last; steps++ {
			if steps > len(text)/fresh+1 {
				t.Fatal("no end")
			}
			if err := w.next(); err != nil {
				t.Fatal(err)
			}
			parts.addRefs(w.text, w.line, w.own())
			if steps > 1000 {
				return
			}
		}
		if !slices.Equal(whole.list, parts.list) {
			t.Errorf("%v, whole %v", parts.list, whole.list)
		}
	})
}
