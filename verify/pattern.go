package verify

import (
	"bytes"
	"regexp"
	"strings"
)

// Class says what a pattern is there to try.
type Class string

// The classes of pattern.
const (
	ClassRare     Class = "rare word"
	ClassMiddling Class = "middling word"
	ClassCommon   Class = "common word"
	ClassFold     Class = "case-insensitive"
	ClassStart    Class = "anchored at ^"
	ClassEnd      Class = "anchored at $"
	ClassSeam     Class = "at a chunk seam"
	ClassNonASCII Class = "non-ASCII"
	ClassCR       Class = "CRLF line end"
	ClassAbsent   Class = "absent word"
)

// Pattern is literal text, perhaps anchored. A line ends at LF, or at the end of the file where the last one has none;
// CR is part of the line, as it is to GNU grep, and "$" is the end of the line as just said.
type Pattern struct {
	Class    Class
	Literal  string
	FoldCase bool
	Start    bool // begins a line
	End      bool // ends a line
}

// String is the pattern as a regular expression.
func (p Pattern) String() string {
	s := regexp.QuoteMeta(p.Literal)
	s = strings.ReplaceAll(s, "\r", `\r`)
	if p.Start {
		s = "^" + s
	}
	if p.End {
		s += "$"
	}
	if p.FoldCase {
		s = "(?i)" + s
	}
	return s
}

// scanner finds the matching lines of a text by plain comparison, without regular expressions.
type scanner struct {
	Pattern
	literal []byte // folded if FoldCase
	pairs   []uint16
}

func newScanner(p Pattern) scanner {
	s := scanner{Pattern: p, literal: []byte(p.Literal)}
	if p.FoldCase {
		s.literal = []byte(fold(p.Literal))
	}
	for i := range s.literal[1:] {
		s.pairs = append(s.pairs, pair(s.literal[i:]))
	}
	return s
}

// pairs says which two bytes stand side by side in a text. Most patterns are ruled out by it.
type pairs [1 << 16 / 64]uint64

func pair(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }

func (p *pairs) fill(text []byte) {
	clear(p[:])
	for i := 1; i < len(text); i++ {
		k := pair(text[i-1:])
		p[k/64] |= 1 << (k % 64)
	}
}

// mayHold is false only if s matches no line of the text.
func (p *pairs) mayHold(s scanner) bool {
	for _, k := range s.pairs {
		if p[k/64]&(1<<(k%64)) == 0 {
			return false
		}
	}
	return true
}

// lines appends the numbers, from 1, of the lines of text that match. Text must be folded if the pattern folds case.
func (s scanner) lines(dst []int, text []byte) []int {
	number, at := 1, 0
	for {
		hit := bytes.Index(text[at:], s.literal)
		if hit < 0 {
			return dst
		}
		number += bytes.Count(text[at:at+hit], newline)
		start := at + bytes.LastIndexByte(text[at:at+hit], '\n') + 1
		end := len(text)
		if n := bytes.IndexByte(text[at+hit:], '\n'); n >= 0 {
			end = at + hit + n
		}
		if s.matches(text[start:end]) {
			dst = append(dst, number)
		}
		if at, number = end+1, number+1; at > len(text) {
			return dst
		}
	}
}

var newline = []byte{'\n'}

func (s scanner) matches(line []byte) bool {
	switch {
	case s.Start && s.End:
		return bytes.Equal(line, s.literal)
	case s.Start:
		return bytes.HasPrefix(line, s.literal)
	case s.End:
		return bytes.HasSuffix(line, s.literal)
	}
	return bytes.Contains(line, s.literal)
}

// matcher finds the matching lines of a text by regular expression, as a reader's grep does.
type matcher struct{ expression *regexp.Regexp }

func newMatcher(p Pattern) (matcher, error) {
	re, err := regexp.Compile("(?m:" + p.String() + ")")
	return matcher{re}, err
}

// lines is like that of scanner, for text as it is, which begins in the line of that number.
func (m matcher) lines(dst []int, text []byte, number int) []int {
	at := 0
	for _, hit := range m.expression.FindAllIndex(text, -1) {
		number += bytes.Count(text[at:hit[0]], newline)
		at = hit[0]
		if len(dst) == 0 || dst[len(dst)-1] != number {
			dst = append(dst, number)
		}
	}
	return dst
}

// line is line number n of text, without its LF.
func line(text []byte, n int) []byte {
	for ; n > 1; n-- {
		_, text, _ = bytes.Cut(text, newline)
	}
	text, _, _ = bytes.Cut(text, newline)
	return text
}
