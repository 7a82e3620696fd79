package source

import (
	"fmt"
	"strings"
	"testing"
)

// uses are those of a file in short: "3:/a.mdx 4:spec a.json 5:spec".
func uses(f *File) string {
	var out []string
	if f.Uses != nil {
		for _, u := range f.Uses.Files {
			text := u.Target
			if u.Spec {
				text = strings.TrimSpace("spec " + text)
			}
			out = append(out, fmt.Sprintf("%d:%s", u.Line, text))
		}
	}
	return strings.Join(out, " ")
}

func TestImports(t *testing.T) {
	cases := []struct{ text, want string }{
		{`import A from "/snippets/a.mdx"`, "1:/snippets/a.mdx"},
		{"text\n\nimport A from './a.mdx';\nimport {b} from '../b.mdx'", "3:./a.mdx 4:../b.mdx"},
		{"import './a.css'\n  import \"@/b\"\n\timport '@site/c'", "1:./a.css 2:@/b 3:@site/c"},
		{"import {\n  A,\n  B as C,\n} from\n  'a/b'\n", "1:a/b"},
		{"import {A, // it's\n B /* from \"x/y\" */} from 'a/b'", "1:a/b"},
		{"import {'a-b' as c} from 'a/b'", "1:a/b"},
		{"import * as A from 'a.mdx'; import B from 'b.mdx' ;export * from 'c.mdx'", "1:a.mdx 1:b.mdx 1:c.mdx"},
		{"import{a}from'./a';export{b}from\"./b\"", "1:./a 1:./b"},
		{"import type {A} from './a'\nexport type {B} from './b'\nimport from from './c'", "1:./a 2:./b 3:./c"},
		{"import A from './a' with {type: 'json'}", "1:./a"},
		{"import A from '!!raw-loader!./a.mdx?x'", "1:./a.mdx?x"},
		{"export * from './a'\nexport * as b from './b'\nexport {c} from './c'", "1:./a 2:./b 3:./c"},
		{"import A from './a'\nimport B from './a'\n", "1:./a"},
		{"import os\nimport A from './a'\r\nimport B from './b'\r\n", "2:./a 3:./b"},
		{"import {\nimport \"x/y\" } from \"a/b\"; import \"c/d\"", "1:a/b 2:x/y 2:c/d"},

		{"import A from 'a'\nimport B from \"https://x.y/z.js\"\nimport C from '//x.y/z.js'", ""},
		{"export const a = {b: './c'}\nexport default './d'\nexport {a}\n\n'./e'", ""},
		{"import.meta.x('./a')\nimportant './a'\nimports from './a'", ""},
		{"- import A from './a'\n> import A from './a'\n`import A from './a'`", ""},
		{"import A from './a\nimport /* './a'", ""},
		{"import A from `./a`", ""},

		{"const a = await import('./a'), b = require( \"b/c\" )", "1:./a 1:b/c"},
		{"x(() => import(/* webpackChunkName: 'x' */ `@/a`))\nrequire.resolve('raw!./b')", "1:@/a 2:./b"},
		{"import(a)\nimport(`./${a}`)\nrequire('fs')\nreimport('./a')\nimport('https://x.y/z')", ""},
	}
	for _, c := range cases {
		if got := uses(page(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
		front := page("---\ntitle: x\n---\n\n" + c.text)
		if got := uses(front); strings.Count(got, ":") != strings.Count(c.want, ":") || c.want[:min(2, len(c.want))] == "1:" && !strings.HasPrefix(got, "5:") {
			t.Errorf("behind frontmatter, %q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestUsesInCode(t *testing.T) {
	const a, b = "import A from './a'\n", "import B from './b'\n"
	cases := []struct{ text, want string }{
		{"```js\n" + a + "```\n" + b, "4:./b"},
		{"~~~\n```\n" + a + "~~~\n" + b, "5:./b"},
		{"````\n```\n" + a + "```\n````\n" + b, "6:./b"},
		{"    ```js\n    " + a + "    ```\n" + b, "4:./b"},
		{"```js\n" + a, "2:./a"},
		{"```js\n" + a + "```\n\n```\n" + b, "2:./a 6:./b"},
		{"```\n" + a + "```js\n```\n" + b, "2:./a 5:./b"},
		{"``` a`b\n" + a, "2:./a"},
		{"- ```js\n  " + a + "  ```\n" + b, "4:./b"},
		{"10. - ```js\n      " + a + "      ```\n" + b, "4:./b"},
		{"- ```js\n  x\n" + a + "- ```\n  " + b + "  ```\n", "3:./a"},
		{"  ```js\n  " + a + b + "  ```\n", "3:./b"},
		{"\t```js\n    " + a + "  " + b + "\t```\n", "3:./b"},
		{"> ```js\n" + a, "2:./a"},
		{"1.```\n" + a, "2:./a"},
		{"```\n<Snippet file=\"x.mdx\" />\n```\n", ""},
		{"---\ntext\n\n" + a + "---\n" + b, "4:./a 6:./b"},
	}
	for _, c := range cases {
		if got := uses(page(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestSnippets(t *testing.T) {
	cases := []struct{ text, want string }{
		{`<Snippet file="x.mdx" />`, "1:/snippets/x.mdx 1:/_snippets/x.mdx"},
		{"text <Snippet\n  a={b}\n  file={'/d/x.mdx'}>", "1:/snippets/d/x.mdx 1:/_snippets/d/x.mdx"},
		{"\n<Snippet file='a' /><Snippet file='b' /><Snippet file='a' />", "2:/snippets/a 2:/_snippets/a 2:/snippets/b 2:/_snippets/b"},
		{"<Snippet /> file='a'\n<Snippets file='a' />\n<Snippet profile='a' /><Snippet file=''/>", ""},
	}
	for _, c := range cases {
		text := strings.Replace(c.text, "<Snippet /> file", "<Snippet /><b file", 1)
		if got := uses(page(text)); got != c.want {
			t.Errorf("%q: %s, want %s", text, got, c.want)
		}
	}
}

func TestIncludes(t *testing.T) {
	cases := []struct{ text, want string }{
		{"<!--@include: ./parts/secret.md-->", "1:./parts/secret.md"},
		{"<!-- @include: ./a b.md{3,5} --> <!--@include:@/c.md#part{,2}-->", "1:./a b.md 1:@/c.md#part"},
		{"<<< @/snippets/x.ts\n<<<./y.js{2,4-6 ts:line-numbers} [title]\n<<< ../[slug].ts#region [a title]\r\n", "1:@/snippets/x.ts 2:./y.js 3:../[slug].ts#region"},
		{"<<<<<<< HEAD\ntext <<< a.md\n```\n<<< b.md\n```\n", ""},
		{"--8<-- \"f.md:1:3\"\n  -8<- 'd/g.md:part'\n> --8<-- \"h\"", "1:f.md 2:d/g.md 3:h"},
		{"```yaml\n--8<-- \"a.yml::3\"\n```\n", "2:a.yml"},
		{";--8<-- \"f.md\"\n  ;;--8<-- \"g.md\"\n--8<-- \"https://x.y/z.md\"\n", ""},
		{"--8<--\nf.md\n\n  d/LICENSE:2:3\r\n; g.md\n--8<--\nh.md\n\t--8<--\nlast.md\nno file\n", "2:f.md 4:d/LICENSE 9:last.md"},
		{"{% include-markdown \"f.md\" start='a' %}{%- include \"g.md\" -%}\n{%+include 'h.md'%}", "1:f.md 1:g.md 2:h.md"},
		{"{% include f.html param=\"x\" %}\n{% include_relative d/g.md%}\n{% include %}{% includes x.md %}", "1:f.html 2:d/g.md"},
		{"{{#include f.rs:2:10}}\n```rust\n{{ #rustdoc_include ../d/g h.rs:part }}\n```\n", "1:f.rs 3:../d/g h.rs"},
		{"\\{{#include f.rs}}\n{{#includes f.rs}}{{include f.rs}}", ""},
	}
	for _, c := range cases {
		if got := uses(page(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestFrontmatterSpecs(t *testing.T) {
	cases := []struct{ front, want string }{
		{"title: A\nopenapi: GET /users", "3:spec"},
		{"openapi: 'specs/my api.json POST /users'", "2:spec specs/my api.json"},
		{"openapi: /api.yaml", "2:spec /api.yaml"},
		{"openapi: webhook order", "2:spec"},
		{"openapi: api.json webhook order", "2:spec api.json"},
		{"openapi: specs/api get /users", "2:spec specs/api"},
		{"asyncapi: /events.yml orders", "2:spec /events.yml"},
		{"asyncapi: orders", "2:spec"},
		{"openapi-schema: api.json Order", "2:spec api.json"},
		{"openapi: [GET /a, b.json, GET /c]", "2:spec 2:spec b.json"},
		{"openapi: https://x.y/api.json GET /users", ""},
		{"openapi: https://x.y/api.json", ""},
		{"openapi: ''\nasyncapi: {a: b}", "3:spec"},
		{"openapi: {source: specs/x.yaml, directory: d}", "2:spec specs/x.yaml"},
		{"openapi: [{source: ''}, a.json]", "2:spec 2:spec a.json"},
		{"openapi: {source: 'https://x.y/api.json'}", ""},
		{"openapi: 3.1", "2:spec"},
		{"openapi: !x a.json", "2:spec"},
		{"openapi: true\nasyncapi: null\nopenapi-schema: false", "2:spec"},
		{"title: A: b\nopenapi:\n  source: a.json", "3:spec"}, // broken
		{"api: GET /users", ""},
		{"title: A: b\nopenapi: \"api.json GET /a\"\nasyncapi: b", "3:spec api.json 4:spec"}, // broken
	}
	for _, c := range cases {
		if got := uses(page("---\n" + c.front + "\n---\n")); got != c.want {
			t.Errorf("%q: %s, want %s", c.front, got, c.want)
		}
	}
	if got := uses(page("+++\ntitle = 'A'\nopenapi = 'a.json GET /x'\n+++\nimport A from './a'")); got != "3:spec a.json 5:./a" {
		t.Errorf("TOML: %s", got)
	}
}

func TestUsesByKind(t *testing.T) {
	const text = "\ufeffimport A from './a'\n```\nimport B from './b'\n```\nx = require('./c')\n"
	want := map[string]string{
		"p.md": "1:./a 5:./c", "p.mdx": "1:./a 5:./c", "p.MARKDOWN": "1:./a 5:./c", "c.jsx": "1:./a 3:./b 5:./c", "c.TS": "1:./a 3:./b 5:./c", "c.txt": "", "c": "", "c.css": "",
	}
	files := map[string]string{}
	for name := range want {
		files[name] = text
	}
	f := open(t, tree(t, files), Options{})
	for name, want := range want {
		if got, err := f.Read(name); err != nil || uses(got) != want {
			t.Errorf("%s: %s, want %s; %v", name, uses(got), want, err)
		}
	}
}

// TestUsesHostile holds what would take quadratic time.
func TestUsesHostile(t *testing.T) {
	const n = 1 << 20
	for name, line := range map[string]string{
		"open": "import {\n", "comments": "import /*\n", "blank": "import\n\n", "names": "import a,\n", "in braces": "import,\n",
		"strings": "import {'\n", "tags": "<Snippet ", "tabs": "\t", "fences": "```\n", "items": "- ", "digits": "1", "export": "export *\n",
		"calls": "import(/*", "marks": "--8<--\n", "dashes": "-", "includes": "<!--@include: x", "braces": "{{#include x", "arrows": "<<< x {",
	} {
		f := page("import {\n" + strings.Repeat(line, n/len(line)) + "\nimport A from './a'\n")
		if got := uses(f); !strings.HasSuffix(got, ":./a") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzUses(f *testing.F) {
	for _, seed := range []string{
		"import {\n A /* ' */, B\n} from \"./a\"; export * from '../b'\n", "```js\nimport './a'\n```\n- ~~~\n  x\n~~~\n", "<Snippet\tfile={`a`}>",
		"--8<--\na.md:1\n--8<--\n;-8<- 'x'\n<<< b {1}\n{% include c %}{{#include d:2}}<!--@include: e-->", "x=require('./a'),import(`b/c`)",
		"---\nopenapi: a.json POST /x\n---\n> ```\nimport {\nimport \"x/y\" } from \"a/b\"; import \"c/d\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		testFacts(t, page(string(content)))
		file := &File{Facts: Facts{Path: "a.js"}, Content: content}
		file.readFacts(file.Content)
		testFacts(t, file)
		// An import is found whatever is above it, unless that makes it code.
		above := string(content)
		if strings.Contains(above, "```") || strings.Contains(above, "~~~") {
			return
		}
		if got := uses(page(above + "\n\nimport A from './last'\n")); !strings.Contains(got, ":./last") {
			t.Errorf("%q: %s", above, got)
		}
	})
}

func TestRefs(t *testing.T) {
	cases := []struct{ text, want string }{
		{`{"$ref":"a.json#/x"}`, "1:a.json"},
		{"a:\n  $ref: '../b%20c.yaml'\n", "2:../b%20c.yaml 2:../b c.yaml"},
		{"{\"$ref\"\n:\n\"d/e\"}", "1:d/e"},
		{"$ref: x#y.yaml\n", ""},
		{`{"$ref":"#/a","$ref":"https://x.y/z.json"}`, ""},
		{`{"$refs":"a.json","$reference":"b.json"}`, ""},
		{"$ref", ""},
	}
	for _, c := range cases {
		f := &File{Facts: Facts{Path: "a.yaml"}, Content: []byte(c.text)}
		if f.readFacts(f.Content); uses(f) != c.want {
			t.Errorf("%q: %s, want %s", c.text, uses(f), c.want)
		}
	}
}
