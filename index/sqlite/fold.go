package sqlite

import (
	"encoding/binary"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A rune's case-folding orbit is the set of runes that unicode.SimpleFold walks through; its least rune stands for all.
func leastFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// foldTable has leastFold of every rune, in pages of 256. Most pages are nil: their runes fold to themselves.
type foldTable [(unicode.MaxRune + 1) >> 8]*[256]rune

var folds = sync.OnceValue(func() *foldTable {
	t := new(foldTable)
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			if least := leastFold(r); least != r {
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

// foldInto writes text with every rune replaced by its leastFold, which is never longer, and what is not UTF-8 as it is.
// It uses the memory of to. Two texts of valid UTF-8 are equal under simple case folding, the one of (?i) in package
// regexp, if and only if they are equal bytes afterwards.
func foldInto(to, text []byte) []byte {
	t := folds()
	to = slices.Grow(to[:0], len(text))[:len(text)]
	n := 0
	for i := 0; i < len(text); {
		if k := foldASCII(to[n:], text[i:]); k > 0 {
			i, n = i+k, n+k
			continue
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

// foldASCII folds bytes eight at a time until fewer are left or one is not ASCII, and returns their number. A small
// letter has bit 0x20 more than its capital, which is the least of the orbit.
func foldASCII(to, text []byte) (n int) {
	const ones = 0x0101010101010101
	for ; n+8 <= len(text); n += 8 {
		x := binary.LittleEndian.Uint64(text[n:])
		if x&(0x80*ones) != 0 {
			break
		}
		small := (x + (0x80-'a')*ones) &^ (x + (0x80-'z'-1)*ones) & (0x80 * ones)
		binary.LittleEndian.PutUint64(to[n:], x^small>>2)
	}
	return n
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
