package snapshot

import (
	"io"

	"github.com/chromafs/chromafs/access"
)

// Limits of the format; what is beyond them is malformed, whatever the Limits of the caller.
const (
	// MaxNameBytes bounds Collection and Records.
	MaxNameBytes = 512
	// MaxSiteBytes bounds Site, so that ids with a site in them stay under 128 bytes.
	MaxSiteBytes = 50
	// MaxURIBytes bounds a URI, which has a bucket of at most 63 bytes and a key of at most 1,024; MaxPinBytes an ETag and
	// the version of an object.
	MaxURIBytes = 1200
	MaxPinBytes = 1024
	// MaxSize is the largest file size, the largest whole number that every JSON reader keeps exact.
	MaxSize = 1<<53 - 1
	// MaxChunks is the largest number of chunks of one file.
	MaxChunks = 1<<31 - 1
	// MaxMTime is the last second of the year 9999.
	MaxMTime = 253402300799
)

// Limits bound what Decode takes from its input. A field that is zero stands for that of DefaultLimits.
type Limits struct {
	// CompressedBytes and UncompressedBytes bound the gzip file and the JSON in it.
	CompressedBytes   int64
	UncompressedBytes int64
	Entries           int
	// PathBytes bounds one path, and one link target.
	PathBytes int
	// Groups bounds the group names over all distinct accesses together, those of excludes too.
	Groups int
}

// DefaultLimits are also what New and Encode obey, so that nothing is published which a reader then refuses.
func DefaultLimits() Limits {
	return Limits{
		CompressedBytes:   512 << 20,
		UncompressedBytes: 2 << 30,
		Entries:           5_000_000,
		PathBytes:         4000,
		Groups:            1_000_000,
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	set(&l.CompressedBytes, d.CompressedBytes)
	set(&l.UncompressedBytes, d.UncompressedBytes)
	set(&l.Entries, d.Entries)
	set(&l.PathBytes, d.PathBytes)
	set(&l.Groups, d.Groups)
	return l
}

func set[T int | int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// lineBytes is more than the longest line that can be accepted: every byte of its strings escaped as \u00xx.
func (l Limits) lineBytes() int {
	const fixed = 1024
	return 6*(2*l.PathBytes+2*MaxNameBytes+MaxURIBytes+2*MaxPinBytes+2*access.MaxGroups*(access.MaxGroupBytes+1)) + fixed
}

// limitReader fails, rather than ends, after left bytes.
type limitReader struct {
	r    io.Reader
	left int64
	err  error
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, l.err
	}
	return n, err
}

// limitWriter is the same for writing.
type limitWriter struct {
	w    io.Writer
	left int64
	err  error
}

func (l *limitWriter) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, l.err
	}
	return l.w.Write(p)
}
