package main

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// Exit codes of every command. Code 2 is left to a Go panic.
const (
	exitFailed      = 1
	exitGuard       = 3
	exitDifferent   = 4
	exitInterrupted = 130
)

// errUsage: the command line is wrong.
var errUsage = errors.New("bad usage")

// errDifferent: verify found differences and has printed them.
var errDifferent = errors.New("the published snapshot differs from the folder")

func exitCode(ctx context.Context, err error) int {
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, ingest.ErrNothingSelected), errors.Is(err, ingest.ErrWiden):
		return exitGuard
	case errors.Is(err, errDifferent):
		return exitDifferent
	}
	return exitFailed
}

// describe is what standard error shows: every failed page, the error, and the next step where there is one.
func describe(err error, code int) []string {
	if code == exitInterrupted {
		return []string{"chromafs: error: interrupted; readers have a whole snapshot, the old one or the new; run it again to finish"}
	}
	var lines []string
	var failures ingest.Failures
	if errors.As(err, &failures) {
		for _, f := range failures {
			lines = append(lines, "chromafs: error: "+report.Printable(f.Error()))
		}
	}
	lines = append(lines, "chromafs: error: "+report.Printable(strings.TrimSpace(err.Error())))
	for _, h := range hints {
		if errors.Is(err, h.of) {
			return append(lines, "chromafs: hint: "+h.text)
		}
	}
	return lines
}

// hints are the next steps, the first that fits.
var hints = []struct {
	of   error
	text string
}{
	{errInside, "name a folder elsewhere, or one that begins with a dot"},
	{errUsage, "chromafs --help shows the commands, chromafs COMMAND --help its flags"},
	{source.ErrNoDefault, "add to chromafs.yaml: access: {default: public} (or authenticated), or pass --access-default"},
	{ingest.ErrWiden, "if that is what you want, pass --allow-widen; chromafs access explain PATH says what decides on a page"},
	{ingest.ErrDenied, "nobody sees these pages until the places named above are mended"},
	{ingest.ErrAccess, "mend it, or pass --deny-invalid to publish the rest, with those pages for nobody"},
	{ingest.ErrNoBlobs, "name a bucket or a folder for them: --blobs s3://BUCKET/PREFIX; or leave the files out: exclude, lazy.spec-bytes"},
	{snapshot.ErrConflict, "another ingest has published: run this one again, if it should come after it"},
	{blob.ErrNoStore, "say where lazy files are kept: --blobs"},
	{blob.ErrDenied, "may this user read and write there? for S3: are credentials set (AWS_PROFILE, AWS_ACCESS_KEY_ID …), and may they?"},
	{blob.ErrNotFound, "does the bucket or the object exist, and is its name right?"},
	{blob.ErrRegion, "name the bucket's region: --s3-region, or AWS_REGION"},
	{blob.ErrClock, "set the clock of this machine"},
	{blob.ErrUnavailable, "is the storage running, and is --s3-endpoint right? running ingest again is safe"},
	{ingest.ErrNothingSelected, "name the folder that holds the documentation, or look at include, exclude and the ignore files"},
	{snapshot.ErrNone, "publish the folder first: chromafs ingest DIR, with the same --collection, --site and --store"},
	{snapshot.ErrVersion, "use a newer chromafs"},
	{snapshot.ErrMalformed, "publish afresh: chromafs ingest --rewrite DIR"},
	{snapshot.ErrDigest, "publish afresh: chromafs ingest --rewrite DIR"},
	{snapshot.ErrMissing, "publish afresh: chromafs ingest --rewrite DIR"},
	{index.ErrNoRecord, "publish afresh: chromafs ingest --rewrite DIR"},
	{index.ErrCorrupt, "publish afresh: chromafs ingest --rewrite DIR"},
	{index.ErrNoCollection, "publish the folder first: chromafs ingest DIR, with the same --collection and --store"},
	{index.ErrChanged, "one ingest at a time: run it again when the other is done"},
	{sqlite.ErrLocked, "one ingest at a time: run it again when the other is done"},
	{index.ErrUnavailable, "is the server running, and is its address right? a write may have happened; running ingest again is safe"},
	{source.ErrNoFolder, "the argument is the folder that holds the documentation"},
	{syscall.ENOSPC, "make room and run ingest again; what was published before is still published"},
}
