package verify

import (
	"sync"
	"unicode/utf8"

	"github.com/chromafs/chromafs/index"
)

// foldTable maps every rune of the basic plane to the smallest of those that equal it under simple case folding.
var foldTable = sync.OnceValue(func() *[1 << 16]rune {
	var table [1 << 16]rune
	for r := range table {
		table[r] = index.FoldClass(rune(r))
	}
	return &table
})

// appendFold appends text so that two texts are equal afterwards exactly if regexp's (?i) takes them for equal. Line ends
// stay where they are.
func appendFold(dst, text []byte) []byte {
	table := foldTable()
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if r < 1<<16 {
			r = table[r]
		} else {
			r = index.FoldClass(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func fold(s string) string { return string(appendFold(nil, []byte(s))) }
