package source

import (
	"bytes"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// specKeys are the keys of frontmatter that name an API description, or an operation or a schema of one.
var specKeys = [...]string{"openapi", "openapi-schema", "asyncapi"}

// scripts are the extensions of files that may import others.
var scripts = [...]string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"}

// useList gathers uses, each once, by the first line that has it.
type useList struct {
	list []Use
	seen map[Use]bool // without lines
	most int          // how many there may be; 0 for any number
	full bool         // so that one was left out
}

func (u *useList) add(use Use) {
	key := use
	key.Line = 0
	if !u.seen[key] {
		if u.full = u.most > 0 && len(u.list) == u.most; u.full {
			return
		}
		if u.seen == nil {
			u.seen = map[Use]bool{}
		}
		u.seen[key] = true
		u.list = append(u.list, use)
	}
}

// mention is a use by its offset.
type mention struct {
	at     int
	target string
	early  bool // put in before Markdown is read, and so in code too
}

// addText adds what a text shows of other files. Its first line has the given number. In Markdown, code is no use,
// but for what is put in before it is known as code.
func (u *useList) addText(text []byte, line int, markdown bool) {
	found := findMentions(text, markdown)
	var code []fence
	if markdown && len(found) > 0 {
		code = fences(text)
	}
	u.addFound(text, line, found, code)
}

// findMentions finds what a text names, in no order, code or not.
func findMentions(text []byte, markdown bool) []mention {
	found := append(imports(text), calls(text)...)
	if markdown {
		found = append(found, snippets(text)...)
		found = append(found, includes(text)...)
	}
	return found
}

func (u *useList) addFound(text []byte, line int, found []mention, code []fence) {
	slices.SortStableFunc(found, func(a, b mention) int { return a.at - b.at })
	lines := lineCount{text: text, line: line}
	for _, m := range found {
		for len(code) > 0 && code[0].end <= m.at {
			code = code[1:]
		}
		if m.early || len(code) == 0 || !code[0].hides(text, m.at) {
			u.add(Use{Target: m.target, Line: lines.to(m.at)})
		}
	}
}

// hides reports whether what stands at an offset, not behind the fence, is code. What is indented less than the fence may
// be outside it, behind the end of a list item.
func (f fence) hides(text []byte, at int) bool {
	if at < f.start {
		return false
	}
	_, indent := indented(text[bytes.LastIndexByte(text[:at], '\n')+1:])
	return indent >= f.indent
}

// snippetTag is Mintlify's older way to show a file of the folder for snippets.
var snippetTag = regexp.MustCompile("<Snippet\\s[^<]*?\\bfile\\s*=\\s*\\{?\\s*[\"'`]([^\"'`\n]+)")

func snippets(text []byte) (found []mention) {
	if !bytes.Contains(text, []byte("<Snippet")) {
		return nil
	}
	for _, at := range snippetTag.FindAllSubmatchIndex(text, -1) {
		file := strings.TrimPrefix(string(text[at[2]:at[3]]), "/")
		found = append(found, mention{at: at[0], target: "/snippets/" + file}, mention{at: at[0], target: "/_snippets/" + file})
	}
	return found
}

// refTargets are what the value behind a $ref may be, read as quoted, as plain to the end of its line, and as in braces.
func refTargets(text []byte) (list []string) {
	value := bytes.TrimLeft(text, "\"' \t\r\n:")
	if len(value) == 0 || value[0] == '#' || len(value) == len(text) { // a longer word
		return nil
	}
	ends := []string{"\r\n#", "\r\n#,}\"'"}
	if quote := text[len(text)-len(value)-1]; quote == '"' || quote == '\'' {
		ends = []string{"#" + string(quote), "\r\n#,}\"'"}
	}
	for _, end := range ends {
		if n := bytes.IndexAny(value, end); n > 0 {
			target := strings.TrimSpace(string(value[:n]))
			list = append(list, target)
			if decoded, err := url.PathUnescape(target); err == nil && decoded != target {
				list = append(list, decoded)
			}
		}
	}
	return list
}

// addRefs adds the files of which JSON or YAML takes parts by $ref, as API descriptions that are split do. Its first line
// has the given number, and what begins at end or behind it is left out.
func (u *useList) addRefs(text []byte, line, end int) {
	lines := lineCount{text: text, line: line}
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte("$ref"))
		if next < 0 || at+next >= end {
			return
		}
		at += next + len("$ref")
		for _, target := range refTargets(text[at:min(len(text), at+maxClause)]) {
			if mayBeFile(target) {
				u.add(Use{Target: target, Line: lines.to(at)})
			}
		}
	}
}

// imports finds the modules that import and export … from name, as far as they may be files of the folder, in statements
// that begin a line or stand behind others that do.
func imports(text []byte) (found []mention) {
	for at := 0; at < len(text); at += lineLen(text[at:]) + 1 {
		statement, _ := indented(text[at:])
		if len(statement) == 0 || statement[0] != 'i' && statement[0] != 'e' {
			continue
		}
		for size := 1; size > 0; {
			var target string
			if target, size = specifier(statement); mayBeFile(target) {
				found = append(found, mention{at: len(text) - len(statement), target: target})
			}
			statement = bytes.TrimLeft(statement[size:], "; \t")
		}
	}
	return found
}

// moduleCall imports a module that is named by a text as it stands.
var moduleCall = regexp.MustCompile("\\b(?:import|require(?:\\.resolve)?)\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*(\"[^\"\n]+\"|'[^'\n]+'|`[^`$\n]+`)")

func calls(text []byte) (found []mention) {
	if !bytes.Contains(text, []byte("import")) && !bytes.Contains(text, []byte("require")) {
		return nil
	}
	for _, at := range moduleCall.FindAllSubmatchIndex(text, -1) {
		if target := unquote(string(text[at[2]:at[3]])); mayBeFile(target) {
			found = append(found, mention{at: at[0], target: target})
		}
	}
	return found
}

// mayBeFile reports whether the specifier of a module may be a path, rather than a package or a URL.
func mayBeFile(specifier string) bool {
	if strings.Contains(specifier, "://") || strings.HasPrefix(specifier, "//") {
		return false
	}
	return strings.Contains(specifier, "/") || path.Ext(specifier) != ""
}

// methods begin an operation of an API description in frontmatter.
var methods = regexp.MustCompile(`(?i)(?:^|\s)(?:get|put|post|delete|options|head|patch|trace|connect|query|webhook)\s+\S`)

// appendSpecs reads the value of one of specKeys: "METHOD /path" or "webhook name" of any description, behind the path of a
// file that one's, or the path alone, which may be the source in an object. What is on another host is no use. What is not
// understood, but neither null nor false, may be any description.
func appendSpecs(list []Use, value any, line int) []Use {
	switch v := value.(type) {
	case nil:
	case string:
		if target, ok := specTarget(v); ok {
			list = append(list, Use{Target: target, Spec: true, Line: line})
		}
	case []any:
		for _, item := range v {
			list = appendSpecs(list, item, line)
		}
	case map[string]any:
		if source, ok := v["source"].(string); ok && source != "" {
			return appendSpecs(list, source, line)
		}
		list = append(list, Use{Spec: true, Line: line})
	default:
		if v != false {
			list = append(list, Use{Spec: true, Line: line})
		}
	}
	return list
}

func specTarget(text string) (target string, ok bool) {
	target = strings.TrimSpace(text)
	at := methods.FindStringIndex(target)
	words := strings.Fields(target)
	switch {
	case at != nil:
		target = strings.TrimSpace(target[:at[0]])
	case len(words) > 0 && !isSpecName(target): // the name of a channel or schema, maybe behind a file
		if target = words[0]; !isSpecName(target) {
			target = ""
		}
	}
	return target, len(words) > 0 && !strings.Contains(target, "://")
}

func isSpecName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// specText is a line of frontmatter with one of specKeys.
var specText = regexp.MustCompile(`(?m)^["']?(?:openapi(?:-schema)?|asyncapi)["']?[ \t]*[:=][ \t]*(.*)$`)

// guessSpecs finds the API descriptions in frontmatter that can't be parsed.
func guessSpecs(text []byte, line int) (list []Use) {
	lines := lineCount{text: text, line: line}
	for _, at := range specText.FindAllSubmatchIndex(text, -1) {
		value := strings.Trim(string(text[at[2]:at[3]]), "\"' \t\r")
		if line := lines.to(at[2]); value == "" { // it may go on in the next line
			list = append(list, Use{Spec: true, Line: line})
		} else {
			list = appendSpecs(list, value, line)
		}
	}
	return list
}
