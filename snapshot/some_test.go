package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// someEntries makes n entries like those of a documentation site, always the same.
func someEntries(n int) []Entry {
	sections := []string{"guides", "api-reference", "concepts", "integrations", "changelog", "reference"}
	words := []string{"quickstart", "auth", "webhooks", "rate-limits", "errors", "create", "list", "update", "delete", "overview"}
	accesses := []access.Access{
		access.Everyone(), access.Everyone(), access.SignedIn(), {Groups: []string{"admin", "staff"}},
		access.Everyone(), {Groups: []string{"*"}, Excludes: []string{"contractors"}}, access.SignedIn(),
		{Groups: []string{"admin", "staff"}, Excludes: []string{"contractors", "guests"}},
	}
	entries := make([]Entry, n)
	for i := range entries {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		x := binary.BigEndian.Uint64(sum[:])
		size := 200 + int64(x%20_000)
		entries[i] = Entry{
			Path: fmt.Sprintf("%s/%s/v%d/%s-%s-%d.mdx", sections[x%6], words[x>>8%10%10], x>>16%50,
				words[x>>24%10], words[x>>32%10], i),
			Access: accesses[x>>40%8],
			Size:   size,
			SHA256: sum,
			Chunks: int(size/2000) + 1,
			MTime:  1_700_000_000 + int64(x>>44%60_000_000),
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return entries
}
