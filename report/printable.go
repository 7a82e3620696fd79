package report

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable makes text from names and documents safe to show on a terminal: every character that does not print is
// written as Go escapes it, so that none of them moves the cursor or turns the text around.
func Printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
