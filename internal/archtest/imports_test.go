// Package archtest holds the package map as a test.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/chromafs/chromafs/"

// anything is the row of a program, which puts all the parts together.
const anything = "*"

// allowed is the package map: what each package may import of this project, outside its tests. A package that is not
// named here fails the test, and so does a row without a package.
var allowed = map[string]string{
	"access":            "",
	"access/token":      "access",
	"blob":              "cache",
	"blob/blobtest":     "blob",
	"blob/dir":          "blob",
	"blob/s3":           "blob",
	"blob/s3/s3test":    "blob/s3",
	"cache":             "",
	"chunker":           "",
	"cmd/chromafs":      anything,
	"config":            "access snapshot",
	"fixtures":          "",
	"fixtures/corpora":  "",
	"index":             "",
	"index/chroma":      "index",
	"index/indextest":   "index",
	"index/sqlite":      "index",
	"ingest":            "access blob chunker index snapshot source",
	"internal/archtest": "",
	"report":            "access ingest snapshot source verify",
	"snapshot":          "access blob index",
	"source":            "access",
	"tools/bench":       anything,
	"tools/gotest":      "",
	"verify":            "access blob chunker index snapshot source vfs",
	"vfs":               "access blob cache snapshot",
}

// owners are the only packages that may import an outside module, by the beginning of its path. Its types stay in there.
var owners = map[string]string{
	"github.com/amikos-tech/":          "index/chroma",
	"github.com/aws/":                  "blob/s3 blob/s3/s3test tools/bench",
	"github.com/bmatcuk/":              "source",
	"github.com/spf13/":                "cmd/chromafs",
	"github.com/yuin/goldmark":         "chunker",
	"go.yaml.in/yaml":                  "config source",
	"golang.org/x/term":                "cmd/chromafs",
	"modernc.org/sqlite":               "index/sqlite",
	"github.com/rogpeppe/go-internal/": "fixtures/corpora",
	"github.com/golang-jwt/":           "access/token",
	"github.com/klauspost/compress/":   "snapshot fixtures/corpora tools/bench",
}

// pure packages compute and do nothing else.
var pure = []string{"access", "chunker"}

// effects are the standard packages that a pure package may not import itself.
var effects = []string{"io/fs", "log", "math/rand", "math/rand/v2", "net", "net/http", "os", "path/filepath", "syscall", "time"}

// unreachable are packages that a package must not depend on, directly or through others.
var unreachable = map[string]string{
	"access":       "net",
	"chunker":      "net",
	"blob":         "net/http",
	"cmd/chromafs": "testing " + module + "fixtures " + module + "index/indextest",
	"ingest":       module + "index/chroma " + module + "index/sqlite " + module + "blob/s3 " + module + "blob/dir",
	"verify":       module + "ingest " + module + "index/chroma " + module + "index/sqlite " + module + "blob/s3 " + module + "blob/dir",
	"vfs":          module + "index/chroma " + module + "index/sqlite " + module + "blob/s3 " + module + "blob/dir",
}

// listed is what go list says of one package.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"...").Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestEveryPackageIsOnTheMap(t *testing.T) {
	var names []string
	for _, p := range list(t) {
		names = append(names, p.name())
	}
	slices.Sort(names)
	if rows := slices.Sorted(maps.Keys(allowed)); !slices.Equal(names, rows) {
		t.Errorf("packages %q\nrows     %q", names, rows)
	}
}

func TestImports(t *testing.T) {
	checked := 0
	for _, p := range list(t) {
		for _, imported := range p.Imports {
			checked++
			if why := refuse(p.name(), imported); why != "" {
				t.Errorf("%s imports %s: %s", p.name(), imported, why)
			}
		}
	}
	if checked < len(allowed) {
		t.Errorf("only %d imports seen", checked)
	}
}

// refuse says why importer may not import the package, or nothing.
func refuse(importer, imported string) string {
	if name, ours := strings.CutPrefix(imported, module); ours {
		if row := allowed[importer]; row == anything || slices.Contains(strings.Fields(row), name) {
			return ""
		}
		return "the package map allows only: " + allowed[importer]
	}
	if slices.Contains(pure, importer) && slices.Contains(effects, imported) {
		return "it is pure"
	}
	for prefix, owner := range owners {
		if strings.HasPrefix(imported, prefix) && !slices.Contains(strings.Fields(owner), importer) {
			return "only " + owner + " may"
		}
	}
	return ""
}

func TestUnreachable(t *testing.T) {
	deps := map[string][]string{}
	for _, p := range list(t) {
		deps[p.name()] = p.Deps
	}
	for name, row := range unreachable {
		if len(deps[name]) == 0 {
			t.Errorf("%s depends on nothing, is it still a package?", name)
		}
		for _, far := range strings.Fields(row) {
			if slices.Contains(deps[name], far) {
				t.Errorf("%s depends on %s", name, far)
			}
		}
	}
}

func TestRefuse(t *testing.T) {
	cases := []struct {
		importer, imported string
		refused            bool
	}{
		{"verify", module + "ingest", true},
		{"verify", module + "vfs", false},
		{"vfs", module + "index", true},
		{"snapshot", module + "index", false},
		{"snapshot", module + "index/sqlite", true},
		{"cmd/chromafs", module + "index/sqlite", false},
		{"unnamed", module + "access", true},
		{"ingest", "modernc.org/sqlite", true},
		{"index/sqlite", "modernc.org/sqlite", false},
		{"ingest", "os", false},
		{"chunker", "os", true},
		{"chunker", "bytes", false},
	}
	for _, c := range cases {
		if got := refuse(c.importer, c.imported); (got != "") != c.refused {
			t.Errorf("%s imports %s: %q", c.importer, c.imported, got)
		}
	}
}
