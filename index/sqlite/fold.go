package sqlite

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/chromafs/chromafs/index"
)

// foldTable has index.FoldClass of every rune, in pages of 256. Most pages are nil: their runes fold to themselves.
type foldTable [(unicode.MaxRune + 1) >> 8]*[256]rune

var folds = sync.OnceValue(func() *foldTable {
	t := new(foldTable)
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if least := index.FoldClass(r); least != r {
				t.set(r, least)
			}
		}
	}
	return t
})

func (t *foldTable) set(r, least rune) {
	page := t[r>>8]
	if page == nil {
		page = new([256]rune)
		for i := range page {
			page[i] = r&^0xff + rune(i)
		}
		t[r>>8] = page
	}
	page[r&0xff] = least
}

// foldInto writes text with every rune replaced by its index.FoldClass, which is never longer, and what is not UTF-8 as it is.
// It uses the memory of to. Two texts of valid UTF-8 are equal under simple case folding, the one of (?i) in package
// regexp, if and only if they are equal bytes afterwards.
func foldInto(to, text []byte) []byte {
	t := folds()
	to = slices.Grow(to[:0], len(text))[:len(text)]
	n := 0
	for i := 0; i < len(text); {
		if rest := text[i:]; len(rest) >= 8 {
			if x := binary.LittleEndian.Uint64(rest); x&high == 0 {
				binary.LittleEndian.PutUint64(to[n:], capitals(x))
				i, n = i+8, n+8
				continue
			}
		}
		if b := text[i]; b < utf8.RuneSelf {
			to[n] = byte(t[0][b])
			i, n = i+1, n+1
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if page := t[r>>8]; page != nil && page[r&0xff] != r {
			n += utf8.EncodeRune(to[n:], page[r&0xff])
		} else {
			n += copy(to[n:], text[i:i+size])
		}
		i += size
	}
	return to[:n]
}

// foldASCII is foldInto for letters of ASCII alone; other bytes stay. It is several times faster.
func foldASCII(to, text []byte) []byte {
	to = slices.Grow(to[:0], len(text))[:len(text)]
	n := 0
	for ; n+8 <= len(text); n += 8 {
		binary.LittleEndian.PutUint64(to[n:], capitals(binary.LittleEndian.Uint64(text[n:])))
	}
	for ; n < len(text); n++ {
		to[n] = byte(capitals(uint64(text[n])))
	}
	return to
}

// foldsASCII reports whether foldASCII does for text, when it is compared with ASCII: whether none of the two other runes
// that fold with an ASCII letter, K and S, is there.
func foldsASCII(text []byte) bool {
	return !bytes.Contains(text, []byte("\u212A")) && !bytes.Contains(text, []byte("ſ"))
}

const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// capitals makes the small ASCII letters among eight bytes capitals, the least of their orbits, which lack bit 0x20.
func capitals(x uint64) uint64 {
	low := x &^ high
	small := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones) &^ x & high
	return x ^ small>>2
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// hasCase reports whether some rune of s folds with another.
func hasCase(s string) bool {
	for _, r := range s {
		if unicode.SimpleFold(r) != r {
			return true
		}
	}
	return false
}
