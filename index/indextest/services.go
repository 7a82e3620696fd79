package indextest

import (
	"os"
	"testing"
)

// Chroma returns the URL of a real Chroma server, as CHROMAFS_TEST_CHROMA names it. Without one the test is skipped, or
// fails where CHROMAFS_REQUIRE_SERVICES is set.
func Chroma(t testing.TB) string {
	t.Helper()
	url := os.Getenv("CHROMAFS_TEST_CHROMA")
	if url != "" {
		return url
	}
	const missing = "no Chroma server: run `scripts/services up`, or name a running one in CHROMAFS_TEST_CHROMA"
	if os.Getenv("CHROMAFS_REQUIRE_SERVICES") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
