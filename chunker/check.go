package chunker

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// What keeps a file from being cut. Every error of Split and Check is an *Error that wraps one of them.
var (
	ErrNotUTF8     = errors.New("not UTF-8")
	ErrNUL         = errors.New("NUL byte")
	ErrLineTooLong = fmt.Errorf("line over %d bytes", MaxBytes)
)

// Error says where a file can't be cut.
type Error struct {
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

var newline = []byte{'\n'}

// Check returns the error that Split would, without cutting: content is not UTF-8, holds a NUL byte, or has a line
// that is longer, with its LF, than MaxBytes. One more file has no cut: see jammed.
func Check(content []byte) error {
	if !utf8.Valid(content) {
		return errorAt(content, invalid(content), ErrNotUTF8)
	}
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return errorAt(content, i, ErrNUL)
	}
	for pos := 0; len(content)-pos > MaxBytes; {
		i := bytes.LastIndexByte(content[pos:pos+MaxBytes], '\n')
		if i < 0 {
			return errorAt(content, pos, ErrLineTooLong)
		}
		pos += i + 1
	}
	if jammed(content) {
		return errorAt(content, 1, ErrLineTooLong)
	}
	return nil
}

func errorAt(content []byte, offset int, err error) error {
	return &Error{Line: 1 + bytes.Count(content[:offset], newline), Err: err}
}

// invalid returns the offset of the first byte that is not UTF-8.
func invalid(content []byte) int {
	pos := 0
	for pos < len(content) {
		r, size := utf8.DecodeRune(content[pos:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		pos += size
	}
	return pos
}

// jammed reports whether content is nothing but pairs of an empty line and one of exactly MaxBytes. Each empty line
// would have to go with the long one after it, because alone it is an empty chunk, and the last pair doesn't fit.
// No other file without a line that is too long lacks a cut.
func jammed(content []byte) bool {
	if len(content) == 0 || len(content)%(MaxBytes+1) != 0 {
		return false
	}
	for ; len(content) > 0; content = content[MaxBytes+1:] {
		if content[0] != '\n' || bytes.IndexByte(content[1:MaxBytes], '\n') >= 0 {
			return false
		}
		if len(content) > MaxBytes+1 && content[MaxBytes] != '\n' {
			return false
		}
	}
	return true
}
