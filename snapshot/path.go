package snapshot

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chromafs/chromafs/blob"
)

// ValidateSite refuses a site name that can't stand in record ids and folder names: anything but 1 to 50 letters, digits,
// dots, underscores and dashes of ASCII, the first a letter or digit. The empty name, of the unnamed site, is valid. The
// error is for whoever chose the name, and quotes at most the part of it that fits.
func ValidateSite(site string) error {
	good := len(site) <= MaxSiteBytes
	for i, c := range []byte(site) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		good = good && (alnum || i > 0 && strings.IndexByte("._-", c) >= 0)
	}
	if good {
		return nil
	}
	shown := strconv.Quote(site)
	if len(site) > MaxSiteBytes {
		shown = fmt.Sprintf("%q… (%d bytes)", site[:MaxSiteBytes], len(site))
	}
	return fmt.Errorf("site %s: at most %d of A-Z a-z 0-9 . _ -, a letter or digit first", shown, MaxSiteBytes)
}

func (h Header) validate() error {
	if err := ValidateSite(h.Site); err != nil {
		return malformed("%w", err)
	}
	for _, s := range []string{h.Collection, h.Records} {
		if len(s) > MaxNameBytes || !utf8.ValidString(s) {
			return malformed("header value %.40q: not UTF-8 or over %d bytes", s, MaxNameBytes)
		}
	}
	if err := validateURI(h.Blobs); err != nil {
		return err
	}
	if err := h.Default.Validate(); err != nil {
		return malformed("default: %w", err)
	}
	if len(h.Default.Excludes) > 0 {
		return malformed("default with excludes")
	}
	return nil
}

// uriScheme begins every URI of a tree: readers follow no other.
const uriScheme = "s3://"

// validateURI takes the empty one too. Whoever follows a URI knows more of what makes sense.
func validateURI(uri string) error {
	if uri != "" && (!strings.HasPrefix(uri, uriScheme) || len(uri) > MaxURIBytes || !isText(uri)) {
		return malformed("%.40q is no URI that begins with %s", uri, uriScheme)
	}
	return nil
}

func validatePin(p blob.Pin) error {
	if p.URI == "" && p != (blob.Pin{}) {
		return malformed("etag or versionId without a uri")
	}
	for _, s := range []string{p.ETag, p.Version} {
		if len(s) > MaxPinBytes || !isText(s) {
			return malformed("etag or versionId %.40q", s)
		}
	}
	return validateURI(p.URI)
}

// isText is for what is sent in headers.
func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// validateParts refuses a path of which a part is empty, "." or "..". The parts that end before from are known to be good.
func validateParts(p []byte, from int) error {
	for from <= len(p) {
		end := bytes.IndexByte(p[from:], '/')
		if end < 0 {
			end = len(p) - from
		}
		switch part := p[from : from+end]; {
		case len(part) == 0:
			return malformed("path has an empty part")
		case part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.'):
			return malformed("path has a part %q", part)
		}
		from += end + 1
	}
	return nil
}

// validateLink refuses a target that is no relative path, or leaves the docs folder when its dots are followed.
func validateLink(from []byte, target string, lim Limits) error {
	switch {
	case len(target) > lim.PathBytes:
		return overLimit("link target of %d bytes, at most %d", len(target), lim.PathBytes)
	case target == "" || target[0] == '/' || !utf8.ValidString(target) || strings.IndexByte(target, 0) >= 0:
		return malformed("link target %q is no relative path", target)
	}
	to := path.Join(path.Dir(string(from)), target)
	if to == ".." || strings.HasPrefix(to, "../") {
		return malformed("link target %q leaves the folder", target)
	}
	return nil
}
