package source

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// division is a part of a navigation as people think of it.
type division struct {
	title  string // the key of its title
	public string // as JSON, or empty
	pages  []string
	inner  []*division
}

func randomDivision(rng *rand.Rand, depth int) *division {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	d := &division{
		title:  pick("group", "group", "group", "tab", "anchor", "version"),
		public: pick("", "", "", "true", "true", "false", "false", `"true"`, "null"),
	}
	for range rng.IntN(4) {
		d.pages = append(d.pages, "p"+strconv.Itoa(rng.IntN(12)))
	}
	for range rng.IntN(4) * min(depth, 1) {
		d.inner = append(d.inner, randomDivision(rng, depth-1))
	}
	return d
}

// answers puts what each page is by the rules into out: the nearest public counts, true and a remedy only on groups, and
// of two places that list a page the first, unless it says nothing and another does not open.
func (d *division) answers(outer string, out map[string]string) {
	said := outer
	switch d.public {
	case "":
	case "true":
		if d.title == "group" {
			said = "true"
		}
	case "false":
		if d.title == "group" || outer != "fault" {
			said = "false"
		}
	default:
		said = "fault"
	}
	for _, p := range d.pages {
		if first, listed := out[p]; !listed || first == "-" && said != "true" {
			out[p] = said
		}
	}
	for _, in := range d.inner {
		in.answers(said, out)
	}
}

// writer writes divisions as JSON, between more of them where wrap is set, and in many files where split is.
type writer struct {
	rng         *rand.Rand
	wrap, split bool
	files       map[string]string
}

func (w *writer) division(d *division) string {
	own := fmt.Sprintf("%q: \"x\"", d.title)
	if d.public != "" {
		own += `, "public": ` + d.public
	}
	var entries []string
	for _, p := range d.pages {
		entries = append(entries, w.file(strconv.Quote(p)))
	}
	for _, in := range d.inner {
		entries = append(entries, w.wrapped(w.division(in)))
	}
	list := `"pages": ` + w.file("["+strings.Join(entries, ",")+"]")
	if w.split && d.public != "" && w.rng.IntN(2) == 0 { // what the file says is replaced beside its $ref
		target := w.file(fmt.Sprintf(`{"public": 1, %q: "y", %s}`, d.title, list))
		if ref, ok := strings.CutPrefix(target, `{"$ref"`); ok {
			return fmt.Sprintf(`{%s, "$ref"%s`, own, ref)
		}
	}
	return w.file(fmt.Sprintf("{%s, %s}", own, list))
}

// wrapped puts a division into others that say nothing.
func (w *writer) wrapped(text string) string {
	around := []string{`{"tab": "w", "groups": [%s]}`, `{"language": "w", "x": %s}`, `{"group": "w", "pages": [%s]}`, "[[%s]]"}
	for w.wrap && w.rng.IntN(2) > 0 {
		text = fmt.Sprintf(around[w.rng.IntN(len(around))], text)
	}
	return text
}

// file puts a value into a file of its own, or leaves it as it is.
func (w *writer) file(value string) string {
	if !w.split || w.rng.IntN(4) > 0 || len(w.files) > maxSiteFiles/2 {
		return value
	}
	name := fmt.Sprintf("n/%d.json", len(w.files))
	w.files[name] = value
	return fmt.Sprintf(`{"$ref": "/%s"}`, name)
}

// However a navigation is written, with more divisions around or in many files, it says the same.
func TestNavigationModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	listed, said := 0, map[string]int{}
	for range 100 {
		d := randomDivision(rng, 4)
		want := map[string]string{}
		d.answers("-", want)
		for _, w := range []writer{{}, {wrap: true}, {split: true}, {wrap: true, split: true}} {
			w.rng, w.files = rng, map[string]string{}
			w.files["docs.json"] = `{"navigation": ` + w.wrapped(w.division(d)) + "}"
			n := readNav(t, w.files)
			if n.fault != nil || len(n.pages) != len(want) {
				t.Fatalf("%v: fault %v, %d pages, want %d", w.files, n.fault, len(n.pages), len(want))
			}
			for _, p := range n.pages {
				if got := answer(p.said); got != want[p.name] {
					t.Fatalf("%v: %s is %s, want %s", w.files, p.name, got, want[p.name])
				}
				listed++
				said[answer(p.said)]++
			}
		}
	}
	if listed < 400 || len(said) != 4 {
		t.Errorf("only %d pages, %v", listed, said)
	}
}

// FuzzNavigation reads any two files, the second by $ref.
func FuzzNavigation(f *testing.F) {
	f.Add(`{"navigation":{"groups":[{"group":"g","public":true,"pages":["a",{"$ref":"x.json"}]}]}}`, `{"group":"h","public":false,"root":"b","pages":["GET /c"]}`)
	f.Add(`{"$ref":"x.json","api":{"openapi":"o.json"}}`, `{"navigation":[{"tab":"t","public":1,"openapi":["a"],"pages":["/a","./a"]}]}`)
	f.Add(`{"navigation":{"$ref":"x.json","public":true}}`, `["a",{"$ref":"docs.json#/x"}]`)
	f.Add("{\n\"navigation\":{\"pages\":[\"a\"],\"pages\":[\"a\"]}}", `{"$ref":"../docs.json"}`)
	dir := f.TempDir()
	disk := open(f, dir, Options{})
	f.Fuzz(func(t *testing.T, docs, ref string) {
		write(t, dir, "docs.json", docs)
		write(t, dir, "x.json", ref)
		n := disk.readNavigation()
		lines := map[string]int{"docs.json": 1 + strings.Count(docs, "\n"), "x.json": 1 + strings.Count(ref, "\n")}
		check := func(path string, line int) {
			if line < 0 || line > lines[path] {
				t.Errorf("line %d of %s", line, path)
			}
		}
		if n.fault != nil {
			check(n.fault.At.Path, n.fault.At.Line)
			if len(n.pages)+len(n.specs)+len(n.warnings) > 0 || n.marked != nil {
				t.Errorf("%v, and yet %+v", n.fault, n)
			}
		}
		silent := !strings.Contains(docs+ref, "public") && !strings.Contains(docs+ref, `\u`)
		if silent && n.marked != nil {
			t.Errorf("marked at %v", n.marked)
		}
		seen := map[string]bool{}
		for _, p := range n.pages {
			check(p.at.Path, p.at.Line)
			if seen[p.name] || p.name == "" || strings.HasPrefix(p.name, "/") {
				t.Errorf("page %q", p.name)
			}
			seen[p.name] = true
			switch {
			case p.said == nil:
			case p.said.Fault != nil:
				check(p.said.Fault.At.Path, p.said.Fault.At.Line)
			case silent:
				t.Errorf("%s is said to be %s", p.name, answer(p.said))
			default:
				check(p.said.PublicAt.Path, p.said.PublicAt.Line)
			}
		}
		for _, w := range n.warnings {
			check(w.Path, w.Line)
		}
	})
}
