package source

import (
	"bytes"
	"regexp"
	"strings"
)

// inclusion is a way to put a file into a page as text. One of the pattern's groups is the target.
type inclusion struct {
	marks   [2]string // without which the pattern, which is slow, can't match
	pattern *regexp.Regexp
	behind  string // what begins what is no more of the target: a range, a section, a title
	late    bool   // not in code
}

var inclusions = [...]inclusion{
	// VitePress
	{marks: [2]string{"@include:", ""}, pattern: regexp.MustCompile(`<!--\s*@include:[ \t]*([^\s{][^\n{]*?)\s*(?:\{[^\n]*?)?-->`)},
	{marks: [2]string{"<<<", ""}, pattern: regexp.MustCompile(`(?m)^[ \t]*<<<[ \t]*([^\s<{][^\n{]*)`), behind: "[", late: true},
	// MkDocs, where a semicolon escapes the mark
	{marks: [2]string{"8<-", ""}, pattern: regexp.MustCompile(`(?m)(?:^|[^;\-])-+8<-+[ \t]+(?:"([^"\n]+)|'([^'\n]+))`), behind: ":"},
	// MkDocs' include-markdown, GitBook, Jekyll, and others
	{marks: [2]string{"{%", "include"}, pattern: regexp.MustCompile(`\{%[-+~]?\s*include(?:[-_]\w+)?\s+(?:"([^"\n]+)|'([^'\n]+)|([^\s"'%]+))`)},
	// mdBook, where a backslash escapes the braces
	{marks: [2]string{"{{", "include"}, pattern: regexp.MustCompile(`(?m)(?:^|[^\\])\{\{\s*#(?:rustdoc_)?include\s+([^\s}][^\n}]*)`), behind: ":"},
}

func includes(text []byte) (found []mention) {
	if bytes.Contains(text, []byte("8<-")) {
		found = snippetBlocks(text)
	}
	for _, way := range inclusions {
		if !bytes.Contains(text, []byte(way.marks[0])) || !bytes.Contains(text, []byte(way.marks[1])) {
			continue
		}
		for _, at := range way.pattern.FindAllSubmatchIndex(text, -1) {
			for g := 2; g < len(at); g += 2 {
				if at[g] < 0 {
					continue
				}
				if target := cutTarget(string(text[at[g]:at[g+1]]), way.behind); target != "" {
					found = append(found, mention{at: at[g], target: target, early: !way.late})
				}
			}
		}
	}
	return found
}

// cutTarget is the path in a target, empty for what is on another host. Brackets hold a title only at the end: a name may
// begin with them.
func cutTarget(target, behind string) string {
	target = strings.TrimSpace(target)
	at := strings.Index(target, behind)
	if behind == "[" {
		at = strings.LastIndex(target, behind)
		if !strings.HasSuffix(target, "]") {
			at = -1
		}
	}
	switch {
	case strings.Contains(target, "://"):
		return ""
	case behind == "" || at < 0:
		return target
	}
	return strings.TrimSpace(target[:at])
}

// snippetMark stands alone in the lines before and behind a list of files that MkDocs puts in.
var snippetMark = regexp.MustCompile(`(?m)^[ \t]*-+8<-+\r?$`)

// snippetBlocks finds the files in such lists. The last one may lack its end: then not all lines are names.
func snippetBlocks(text []byte) (found []mention) {
	marks := snippetMark.FindAllIndex(text, -1)
	for i := 0; i < len(marks); i += 2 {
		closed, end := i+1 < len(marks), len(text)
		if closed {
			end = marks[i+1][0]
		}
		for at := marks[i][1]; at < end; at += lineLen(text[at:end]) + 1 {
			line := strings.TrimSpace(string(text[at : at+lineLen(text[at:end])]))
			target := cutTarget(line, ":")
			if target != "" && target[0] != ';' && (closed || mayBeFile(target)) {
				found = append(found, mention{at: at, target: target, early: true})
			}
		}
	}
	return found
}
