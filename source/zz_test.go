package source
import ("testing";"time";"strings")
func TestZZ(t *testing.T){
 const n = 4<<20
 for _, head := range []string{"", "---\n", "\n---\n", "---x\n{", "---\na\n...\n"} {
 for _, line := range []string{"{/*", "<!--", "<!-- -->", "{,", ",\"groups\":", "---x\n", "```\n", "--8<--\n", "-8<- \"x", "{% include ", "import(", "import(/**/", "\u200b", "<<<[", "<!--@include:{ ", "groups", "\r", "- ", "?groups:\n", "if:visitor"} {
  st:=time.Now(); page(head+strings.Repeat(line, n/len(line))+"\n---\n")
  if d:=time.Since(st); d>700*time.Millisecond {t.Logf("%q %q %v",head,line,d)}
 }}
}
