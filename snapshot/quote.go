package snapshot

import (
	"bytes"
	"unicode/utf8"
)

// The one form of a string: that of RFC 8785, which JavaScript's JSON.stringify and Python's json.dumps with
// ensure_ascii=False write too. Quote, backslash and the control characters below U+0020 are escaped, nothing else.

const hexDigits = "0123456789abcdef"

// short holds the letter after the backslash of the characters that have a short escape.
var short = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// long is the inverse of short.
var long = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r'}

func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e := short[c]; e != 0 {
			dst = append(dst, '\\', e)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// unquote reads the canonical string at the front of src. It returns the string, which may alias src, and its length in
// src with both quotes, or 0 if src does not begin with one.
func unquote(src []byte) (s []byte, n int) {
	if len(src) == 0 || src[0] != '"' {
		return nil, 0
	}
	end := bytes.IndexByte(src[1:], '"')
	if end < 0 {
		return nil, 0
	}
	s = src[1 : 1+end]
	ascii := true
	for _, c := range s {
		if c < 0x20 || c == '\\' {
			return unquoteSlow(src)
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(s) {
		return nil, 0
	}
	return s, end + 2
}

func unquoteSlow(src []byte) (s []byte, n int) {
	for i := 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			if !utf8.Valid(s) {
				return nil, 0
			}
			return s, i + 1
		case c < 0x20:
			return nil, 0
		case c != '\\':
			s = append(s, c)
		default:
			c, size := unescape(src[i:])
			if size == 0 {
				return nil, 0
			}
			s = append(s, c)
			i += size - 1
		}
	}
	return nil, 0
}

// unescape reads one canonical escape; size is 0 for any other.
func unescape(src []byte) (c byte, size int) {
	if len(src) < 2 {
		return 0, 0
	}
	if c = long[src[1]]; c != 0 {
		return c, 2
	}
	if len(src) < 6 || string(src[1:4]) != "u00" || src[4] > '1' {
		return 0, 0
	}
	hi, lo := unhex[src[4]], unhex[src[5]]
	if hi > 15 || lo > 15 {
		return 0, 0
	}
	c = hi<<4 | lo
	if short[c] != 0 {
		return 0, 0
	}
	return c, 6
}

// unhex holds the values of the lower-case hex digits; others are above 15.
var unhex = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range []byte(hexDigits) {
		t[c] = byte(i)
	}
	return t
}()
