package source

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// errEncoding: a page seems to say who may see it, but not in a way that is read.
var errEncoding = errors.New("this looks like frontmatter, but with NUL or other bytes that no text has, and is not read: save the page as UTF-8")

// wide is the UTF-16 that content begins as, by its byte order mark or by two characters of ASCII; nil for any other.
func wide(content []byte) encoding.Encoding {
	if len(content) < 2 {
		return nil
	}
	a, b := content[0], content[1]
	ascii := len(content) >= 4 && (a == 0) == (content[2] == 0) && (b == 0) == (content[3] == 0)
	switch {
	case a == 0xff && b == 0xfe, ascii && a != 0 && b == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case a == 0xfe && b == 0xff, ascii && a == 0 && b != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// decode is the text of content in UTF-8, where it is UTF-16, and else content itself. What is malformed becomes U+FFFD.
func decode(content []byte) []byte {
	utf16 := wide(content)
	if utf16 == nil {
		return content
	}
	text, err := utf16.NewDecoder().Bytes(content)
	if err != nil {
		return content
	}
	return text
}

// decodeFrom is decode of what r gives, which begins with head.
func decodeFrom(r io.Reader, head []byte) io.Reader {
	if utf16 := wide(head); utf16 != nil {
		return transform.NewReader(r, utf16.NewDecoder())
	}
	return r
}

// visibleBytes is content without its bytes that no text in UTF-8 has, or nil if there are none: so UTF-32 shows what it
// says, if in ASCII.
func visibleBytes(content []byte) []byte {
	if bytes.IndexByte(content, 0) < 0 && bytes.IndexByte(content, 0xfe) < 0 && bytes.IndexByte(content, 0xff) < 0 {
		return nil
	}
	out := make([]byte, 0, len(content))
	for _, c := range content {
		if c != 0 && c != 0xfe && c != 0xff {
			out = append(out, c)
		}
	}
	return out
}
