package blob

import (
	"io/fs"
	"strings"
)

// CheckKey is fs.ErrInvalid for what is no key of a Store. It refuses backslashes and NUL too, so that a key means the
// same in a bucket and in a folder of any system.
func CheckKey(key string) error {
	if key == "." || !fs.ValidPath(key) || strings.ContainsAny(key, "\\\x00") {
		return fs.ErrInvalid
	}
	return nil
}
