package blob

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// Verify reads size bytes of the digest from r. It ends with io.EOF only behind the last byte of exactly those; else its
// error is ErrShort, ErrTrailing, ErrDigest or that of r. Bytes come before they are proven: no caller may use them before
// the end.
func Verify(r io.Reader, size int64, sum [32]byte) io.Reader {
	return &verifier{r: r, left: size, sum: sum, hash: sha256.New()}
}

type verifier struct {
	r    io.Reader
	left int64
	sum  [32]byte
	hash hash.Hash
	err  error
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil || len(p) == 0 {
		return 0, v.err
	}
	if v.left == 0 {
		v.err = v.end()
		return 0, v.err
	}
	n, err := v.r.Read(p[:min(int64(len(p)), v.left)])
	v.hash.Write(p[:n])
	v.left -= int64(n)
	switch {
	case err == io.EOF && v.left > 0:
		v.err = fmt.Errorf("%w, %d bytes too soon", ErrShort, v.left)
	case err != nil && err != io.EOF:
		v.err = err
	}
	return n, v.err
}

// end looks for one byte more, and at the digest.
func (v *verifier) end() error {
	var one [1]byte
	n, err := io.ReadAtLeast(v.r, one[:], 1)
	switch {
	case n > 0:
		return ErrTrailing
	case err != io.EOF:
		return err
	case [32]byte(v.hash.Sum(nil)) != v.sum:
		return ErrDigest
	}
	return io.EOF
}
