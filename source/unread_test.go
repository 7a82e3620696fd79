package source

import (
	"strings"
	"testing"
)

// TestFrontmatterUnread holds what is no frontmatter here, but may be on some platform.
func TestFrontmatterUnread(t *testing.T) {
	const block = "---\ntitle: A\npublic: true\n---\n"
	cases := []struct{ content, want, why string }{
		{"---yaml\npublic: true\n---\n", "2:fault", "more than --- in its first line"},
		{"---json\n{\n\"title\": \"A\", \"groups\": [\"a\"]}\n---\n", "3:fault", "more than ---"},
		{"--- # x\r\npublic: true\r\n---\r\n", "2:fault", "more than ---"},
		{"--- {public: true}\n---\n", "1:fault", "more than ---"},
		{"---\u00a0\npublic: true\n---\u00a0\n", "2:fault", "more than ---"},
		{"---\f\npublic: true\n---\n", "2:fault", "more than ---"},
		{"---\u200b\n\u200bgroups: [a]\n--- \n", "2:fault", "more than ---"},
		{"+++ \u200b\npublic = true\n+++\n", "2:fault", "more than +++"},
		{"\ufeff\ufeff" + block, "3:fault", "invisible characters"},
		{" " + block, "3:fault", "white space"},
		{"\u200b" + block, "3:fault", "invisible characters"},
		{"\n\r\n" + block, "5:fault", "an empty line"},
		{"<!-- a\n--><!-- b -->\n" + block, "5:fault", "a comment"},
		{"{/* a */} { /* b */ }\n" + block, "4:fault", "a comment"},
		{"\nsub" + "\n" + block, "", ""},
		{"\n---\nif: visitor.claims\n...\n", "3:fault", "an empty line"},
		{"---\rpublic: true\r---\r", "1:fault", "carriage return"},
		{"---\rpublic: true\r---\r# text\rmore\n", "2:fault", "carriage return"},
		{"---\ntitle: A\n...\npublic: true\n---\n", "4:fault", "behind the line ..."},
		{"---\ngroups: [a]\n...\npublic: true\n---\n", `2:groups=groups "a" 4:fault`, "behind the line ..."},
		{"---\ntext\n...\ngroups: [a]\n---\n", "4:fault", "behind the line ..."},

		{"---\npublic: true\n...\ntext: a\n---\ngroups: [a]\n", "2:public=true", ""},
		{"---\npublic: true\n...\ngroups: [a]\n", "2:public=true", ""},
		{"---\npublic: true\n---\ngroups: [a]\n---\n", "2:public=true", ""},
		{"---yaml\ntitle: A\n---\n", "", ""},
		{"---yaml\npublic: true\n", "", ""},
		{"----\npublic: true\n---\n", "", ""},
		{"--- ---\npublic: true\n---\n", "", ""},
		{"\n---\n\ntext, public: it\n\n---\npublic: true\n", "", ""},
		{"\n---\n\n  ```yaml\n  public: true\n  ```\n\n---\n", "", ""},
		{"\n---\n\n```yaml\n---\npublic: true\n---\n```\n", "", ""},
		{"<!-- " + block, "", ""},
		{"<b>\n" + block, "", ""},
		{"text\n" + block, "", ""},
	}
	for _, c := range cases {
		f := page(c.content)
		testFacts(t, f)
		if got := said(f.Own); got != c.want {
			t.Errorf("%q: %s, want %s; %+v", c.content, got, c.want, f.Own)
		} else if c.why != "" && !strings.Contains(f.Own.Fault.Error(), c.why) {
			t.Errorf("%q: %v, want %s", c.content, f.Own.Fault, c.why)
		}
	}
}

// TestFrontmatterWayOut follows the advice that faults give to pages without frontmatter.
func TestFrontmatterWayOut(t *testing.T) {
	for _, content := range []string{
		"---\npublic: true\n", "---\npublic: true\na: b: c\n---\n", "---\n- {public: true}\n---\n", "\n---\npublic: true\n---\n", "---x\npublic: true\n---\n",
		"+++\npublic = x\n+++\n",
	} {
		if f := page(content); f.Own == nil || f.Own.Fault == nil || !strings.HasSuffix(f.Own.Fault.Error(), beginWithText) {
			t.Errorf("%q: %+v", content, f.Own)
		}
		if f := page("text\n" + content); f.Own != nil || len(f.Warnings) > 0 {
			t.Errorf("text and %q: %s %v", content, said(f.Own), f.Warnings)
		}
	}
}
