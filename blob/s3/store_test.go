package s3_test

import (
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/s3"
	"github.com/chromafs/chromafs/blob/s3/s3test"
)

func TestStore(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return s3test.Bucket(t) })
}

// The same with a prefix, and with parts for whatever is over their size.
func TestStoreInParts(t *testing.T) {
	server := s3test.Start(t)
	blobtest.Run(t, func(t *testing.T) blob.Store {
		o := server.Options(server.NewBucket(t))
		o.Prefix, o.MultipartBytes, o.PartBytes = "docs/site", 5<<20, 5<<20
		b, err := s3.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}
