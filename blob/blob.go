// Package blob keeps files whole, as objects named by the digest of their bytes, and reads them back proven: what a reader
// gets is the file's bytes or an error. Package s3 keeps them in a bucket, package dir in a folder.
package blob

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Sizes of what is fetched at a time.
const (
	// BlockBytes is the size of the blocks of a block list; the last block of a file may be shorter.
	BlockBytes = 1 << 20
	// WholeBytes is the size up to which a file is fetched whole. A larger one has a block list.
	WholeBytes = 8 << 20
)

// Errors that callers branch on. All but the first three come as an *Error.
var (
	// ErrShort, ErrTrailing and ErrDigest: fewer bytes than the pointer says, more, or others.
	ErrShort    = errors.New("ends early")
	ErrTrailing = errors.New("has bytes behind its end")
	ErrDigest   = errors.New("has the wrong sha256")

	// ErrNotFound: no such object, or no such bucket.
	ErrNotFound = errors.New("not found")
	// ErrDenied: the credentials are wrong, missing, or not enough.
	ErrDenied = errors.New("access denied")
	// ErrChanged: the object is not the one that was pinned.
	ErrChanged = errors.New("changed since it was pinned")
	// ErrRegion: the bucket is in another region.
	ErrRegion = errors.New("bucket is in another region")
	// ErrClock: the clock of this machine is too far off.
	ErrClock = errors.New("the clock of this machine is wrong")
	// ErrUnavailable: no answer, or not in time, or only that of a server in trouble, after retries.
	ErrUnavailable = errors.New("storage unavailable")
)

// Error names the object that an operation failed for. Its text holds no credentials.
type Error struct {
	// URI is s3://BUCKET/KEY, or the path of a file.
	URI string
	// Detail is what the storage said; it may be empty.
	Detail string
	Err    error
}

func (e *Error) Error() string {
	text := e.URI + ": " + e.Err.Error()
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Pointer names the bytes of one file, and where they are.
type Pointer struct {
	Size   int64
	SHA256 [32]byte
	// Blocks is the SHA-256 of the file's block list, which lies in the store under its own Key: the SHA-256 of each
	// block, one after the other. It is zero for files of at most WholeBytes.
	Blocks [32]byte
	// Pin is that of an object which was there before. Its URI is empty for one that lies in the store under Key(SHA256).
	Pin
}

// Pin is an object that is not named by its content, and what it must still be. An empty field holds it to nothing.
type Pin struct {
	// URI is s3://BUCKET/KEY.
	URI string
	// ETag is as S3 has it, quotes included.
	ETag    string
	Version string
}

// Key is the name of the object that holds the bytes of a digest.
func Key(sum [32]byte) string {
	text := hex.EncodeToString(sum[:])
	return fmt.Sprintf("sha256/%s/%s", text[:2], text)
}

// Content is what is to be stored.
type Content struct {
	Size   int64
	SHA256 [32]byte
	// Open begins to read it, from the start; a store may do so more than once, but not at the same time.
	Open func() (io.ReadCloser, error)
}

// Info describes a stored object.
type Info struct {
	Size int64
	// ETag and Version are empty in a folder.
	ETag, Version string
	// SHA256 is that of the whole object where the storage knows it, else nil.
	SHA256 *[32]byte
}

// Store keeps objects by key: parts that are neither empty, "." nor "..", joined by "/". It is safe for concurrent use,
// also of several processes. Errors about the object or the storage are an *Error; those of the context are its own.
type Store interface {
	// Stat describes an object, and reads nothing of it. ErrChanged if it is not the pinned one; the pin's URI has no say.
	Stat(ctx context.Context, key string, pin Pin) (Info, error)
	// Open reads length bytes from offset on, fewer where the object ends, and to its end if length is below 0. It is
	// ErrChanged if the object is not the pinned one, then or while it is read. The bytes are not verified.
	Open(ctx context.Context, key string, pin Pin, offset, length int64) (io.ReadCloser, error)
	// Put stores the content, whole or not at all; while it is sent it is held to its size and digest, so the error may
	// be ErrShort, ErrTrailing or ErrDigest, or that of the content. What is there under key already stays, unless replace
	// is set.
	Put(ctx context.Context, key string, c Content, replace bool) error
	// URI names an object in words for people and, in a bucket, as Pin.URI.
	URI(key string) string
}

// Send stores content under the Key of its digest, unless it Holds it; with replace it is sent anyway.
func Send(ctx context.Context, s Store, c Content, replace bool) (sent bool, err error) {
	key := Key(c.SHA256)
	info, err := s.Stat(ctx, key, Pin{})
	switch {
	case err != nil && !mayBeAbsent(err):
		return false, err
	case err == nil && c.is(info) && !replace:
		return false, nil
	}
	return true, s.Put(ctx, key, c, err == nil)
}

// Holds reports whether an object of the size of the content is there under the Key of its digest.
func Holds(ctx context.Context, s Store, c Content) (bool, error) {
	info, err := s.Stat(ctx, Key(c.SHA256), Pin{})
	if err != nil && !mayBeAbsent(err) {
		return false, err
	}
	return err == nil && c.is(info), nil
}

// is reports whether an object is the content, as far as the storage tells.
func (c Content) is(info Info) bool {
	return info.Size == c.Size && (info.SHA256 == nil || *info.SHA256 == c.SHA256)
}

// mayBeAbsent is for an answer to Stat. To who may read objects but not list the bucket, S3 says that one is denied which is
// not there; if it is there and denied, so is Put.
func mayBeAbsent(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDenied)
}
