// Package config resolves the settings of a command: flag, environment, chromafs.yaml, default, in that order. It reads
// the file strictly: an unknown key is an error, since a misspelt setting must not be ignored.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
)

// DefaultFile is read from the working folder when no other file is named.
const DefaultFile = "chromafs.yaml"

// ErrInvalid is wrapped by every error about a setting's value.
var ErrInvalid = errors.New("invalid configuration")

// Setting is one value that a flag, an environment variable or the file can give.
type Setting struct {
	// Key is the flag's name; in the file a dash is a level (access-default is access: default:).
	Key     string
	Env     string
	Default string
	Usage   string
	// Commands are those that take the flag; nil stands for all.
	Commands []string
}

// Settings lists every setting, in the order that help shows them.
var Settings = []Setting{
	{Key: "chroma", Env: "CHROMAFS_CHROMA", Usage: "URL of a Chroma server (default: the embedded store)"},
	{Key: "collection", Env: "CHROMAFS_COLLECTION", Default: "docs", Usage: "collection that holds the records"},
	{Key: "site", Env: "CHROMAFS_SITE", Usage: "name of the site, where several share one collection"},
	{Key: "store", Env: "CHROMAFS_STORE", Default: ".chromafs", Usage: "folder of the embedded store"},
	{Key: "snapshot", Env: "CHROMAFS_SNAPSHOT", Usage: "folder or s3://BUCKET/PREFIX to publish snapshots to, beside the collection"},
	{Key: "blobs", Env: "CHROMAFS_BLOBS", Usage: "folder or s3://BUCKET/PREFIX that keeps lazy files (default: in the embedded store; needed for them with --chroma)", Commands: []string{"ingest", "verify"}},
	{Key: "s3-endpoint", Env: "CHROMAFS_S3_ENDPOINT", Usage: "URL of an S3 server other than Amazon's"},
	{Key: "s3-region", Env: "CHROMAFS_S3_REGION", Usage: "region of the buckets (default: that of the AWS configuration)"},
	{Key: "s3-path-style", Env: "CHROMAFS_S3_PATH_STYLE", Default: "auto", Usage: "put the bucket into the path, not the host: true, false, or auto, with an endpoint alone"},
	{Key: "lazy-spec-bytes", Env: "CHROMAFS_LAZY_SPEC_BYTES", Default: "65536", Usage: "API descriptions of more bytes are lazy files; -1 for none", Commands: []string{"ingest", "verify", "explain"}},
	{Key: "access-default", Env: "CHROMAFS_ACCESS_DEFAULT", Usage: "who sees a page that nothing else decides: public or authenticated", Commands: []string{"ingest", "verify", "explain"}},
	{Key: "url", Env: "CHROMAFS_URL", Usage: "public base URL of the site, recorded with each page", Commands: []string{"ingest", "verify"}},
	{Key: "cache-dir", Env: "CHROMAFS_CACHE_DIR", Default: "auto", Usage: "folder that keeps what was read from S3: auto is chromafs in the user's cache folder, none is no folder", Commands: readers},
	{Key: "cache-bytes", Env: "CHROMAFS_CACHE_BYTES", Default: "1073741824", Usage: "bound of what that folder keeps", Commands: readers},
	{Key: "format", Env: "CHROMAFS_FORMAT", Default: "text", Usage: "output: text or json"},
	{Key: "token-key", Env: "CHROMAFS_TOKEN_KEY", Usage: "file with the public key, or the secret, that tokens are signed with", Commands: readers},
	{Key: "token-jwks", Env: "CHROMAFS_TOKEN_JWKS", Usage: "file or URL of the key set that tokens are signed with", Commands: readers},
	{Key: "token-audience", Env: "CHROMAFS_TOKEN_AUDIENCE", Usage: "audience that a token must be for", Commands: readers},
	{Key: "token-issuer", Env: "CHROMAFS_TOKEN_ISSUER", Usage: "issuer that a token must be from", Commands: readers},
	{Key: "token-groups-claim", Env: "CHROMAFS_TOKEN_GROUPS_CLAIM", Default: "groups", Usage: "claim of a token that holds the groups", Commands: readers},
}

// readers are the commands that show what one viewer sees.
var readers = []string{"list"}

// Config is what a command runs with.
type Config struct {
	Chroma, Collection, Site, Store, Snapshot, Format, URL string
	// Docs is the documentation folder when the command line names none.
	Docs string
	// Default is nil where nothing decided it; DefaultAt is the flag, the variable or the line that did.
	Default   *access.Access
	DefaultAt access.Place
	// Rules are access.rules, in order.
	Rules            []access.Rule
	Include, Exclude []string
	// Blobs is a folder or s3://BUCKET/PREFIX; empty where none was named.
	Blobs string
	S3    S3
	Lazy  Lazy
	// CacheDir is the folder of the cache, or auto or none.
	CacheDir   string
	CacheBytes int64
	// File is the path of the configuration file that was read; empty where there was none.
	File string
	// Viewers says how viewers prove who they are.
	Viewers Viewers
	// Token, Tenant and Database are Chroma's own and come from the environment alone.
	Token, Tenant, Database string
}

// S3 says how buckets are reached. Credentials come from where the AWS tools look for them, and from nowhere else.
type S3 struct {
	Endpoint, Region string
	PathStyle        bool
}

// Lazy says which files are kept whole.
type Lazy struct {
	// SpecBytes is the size of API descriptions over which they are lazy; below 0 none is for its size.
	SpecBytes int64
	Match     []string
	Pointers  []Pointer
}

// Pointer names a file that is an object already.
type Pointer struct {
	Path, URI string
	At        access.Place
}

// Viewers are the settings of tokens.
type Viewers struct {
	Key, JWKS, Audience, Issuer, GroupsClaim string
}

// Source is where settings are looked up.
type Source struct {
	// Path of the file; with Explicit it must exist.
	Path     string
	Explicit bool
	// Flags holds the flags that were given, by name.
	Flags map[string]string
	// Getenv is os.Getenv outside tests.
	Getenv func(string) string
}

// Load resolves and checks every setting. Its errors name the flag, the variable or the file and line.
func Load(src Source) (Config, error) {
	path, f, err := readFile(src.Path, src.Explicit)
	if err != nil {
		return Config{}, err
	}
	value := src.lookup(f.values())
	c := Config{
		Chroma: value("chroma"), Collection: value("collection"), Site: value("site"), Store: value("store"),
		Snapshot: value("snapshot"), Format: value("format"), URL: strings.TrimRight(value("url"), "/"),
		Blobs: value("blobs"), CacheDir: value("cache-dir"),
		S3:   S3{Endpoint: value("s3-endpoint"), Region: value("s3-region")},
		Lazy: Lazy{Match: f.Lazy.Match, Pointers: f.pointers(path)},
		Docs: f.Docs, Include: f.Include, Exclude: f.Exclude, Rules: f.rules(path), File: path,
		Viewers: Viewers{
			Key: value("token-key"), JWKS: value("token-jwks"), Audience: value("token-audience"),
			Issuer: value("token-issuer"), GroupsClaim: value("token-groups-claim"),
		},
		Token: src.Getenv("CHROMA_API_KEY"), Tenant: src.Getenv("CHROMA_TENANT"), Database: src.Getenv("CHROMA_DATABASE"),
	}
	if c.Docs == "" {
		c.Docs = "docs"
	}
	c.DefaultAt = src.defaultAt(path, f)
	if err := c.parse(value); err != nil {
		return c, err
	}
	return c, c.check(value("access-default"))
}

// parse reads the settings that are not text.
func (c *Config) parse(value func(string) string) (err error) {
	whole := func(key string) int64 {
		n, parseErr := strconv.ParseInt(value(key), 10, 64)
		if parseErr != nil && err == nil {
			err = fmt.Errorf("%w: %s %q is not a whole number of bytes", ErrInvalid, key, value(key))
		}
		return n
	}
	c.CacheBytes = whole("cache-bytes")
	if c.Lazy.SpecBytes = whole("lazy-spec-bytes"); c.Lazy.SpecBytes < -1 || c.CacheBytes < 0 {
		return fmt.Errorf("%w: lazy-spec-bytes is below -1, or cache-bytes below 0", ErrInvalid)
	}
	if c.Lazy.SpecBytes == 0 {
		c.Lazy.SpecBytes = 1 // 0 means the default elsewhere; nothing that describes an API fits into one byte
	}
	switch text := value("s3-path-style"); text {
	case "true", "false":
		c.S3.PathStyle = text == "true"
	case "auto":
		c.S3.PathStyle = c.S3.Endpoint != ""
	default:
		return fmt.Errorf("%w: s3-path-style %q is neither true, false nor auto", ErrInvalid, text)
	}
	return err
}

// defaultAt is where access-default is from.
func (src Source) defaultAt(path string, f file) access.Place {
	i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == "access-default" })
	if _, given := src.Flags[Settings[i].Key]; given {
		return access.Place{Path: "--" + Settings[i].Key}
	}
	if src.Getenv(Settings[i].Env) != "" {
		return access.Place{Path: Settings[i].Env}
	}
	return access.Place{Path: path, Line: f.Access.Default.line}
}

// lookup returns the function that finds a setting by its key.
func (src Source) lookup(fromFile map[string]string) func(key string) string {
	found := map[string]string{}
	for _, s := range Settings {
		flag, given := src.Flags[s.Key]
		if !given {
			flag = cmp.Or(src.Getenv(s.Env), fromFile[s.Key], s.Default)
		}
		found[s.Key] = flag
	}
	return func(key string) string { return found[key] }
}

// collectionName is Chroma's own rule for names.
var collectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]$`)

func (c *Config) check(accessDefault string) error {
	if !collectionName.MatchString(c.Collection) || strings.Contains(c.Collection, "..") {
		return fmt.Errorf("%w: collection %q: 3 to 512 letters, digits, '.', '_' or '-', beginning and ending with a letter or digit", ErrInvalid, c.Collection)
	}
	if c.Store == "" {
		return fmt.Errorf("%w: store is empty: name a folder", ErrInvalid)
	}
	if err := snapshot.ValidateSite(c.Site); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if c.Format != "text" && c.Format != "json" {
		return fmt.Errorf("%w: format %q is neither text nor json", ErrInvalid, c.Format)
	}
	if err := checkURL(c.URL); err != nil {
		return err
	}
	for key, place := range map[string]string{"snapshot": c.Snapshot, "blobs": c.Blobs} {
		if strings.Contains(place, "://") && !IsBucket(place) {
			return fmt.Errorf("%w: %s is neither a folder nor s3://BUCKET/PREFIX", ErrInvalid, key)
		}
	}
	if err := checkEndpoint(c.S3.Endpoint); err != nil {
		return err
	}
	if accessDefault == "" {
		return nil
	}
	a, err := access.ParseDefault(accessDefault)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	c.Default = &a
	return nil
}

// checkURL refuses what would make wrong links, or put a password on every record.
func checkURL(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.ContainsAny(base, " \t\n") {
		return fmt.Errorf("%w: url is not a web address that begins with http:// or https://", ErrInvalid)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%w: url has a user, a query or a fragment; it is recorded with every page", ErrInvalid)
	}
	return nil
}

// checkEndpoint refuses what holds a secret, or can't be asked.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return fmt.Errorf("%w: s3-endpoint is not a web address of scheme, host and port", ErrInvalid)
	}
	return nil
}

// IsBucket reports whether a place for snapshots or blobs is a bucket and not a folder.
func IsBucket(place string) bool { return strings.HasPrefix(place, "s3://") }

// StoreFolder is the folder of the embedded store's collection.
func (c Config) StoreFolder() string { return filepath.Join(c.Store, c.Collection) }

// IndexPath is the embedded store's one file.
func (c Config) IndexPath() string { return filepath.Join(c.StoreFolder(), "index.db") }

// SnapshotFolder is where snapshots are published to: the one that was named, or the embedded store's. It is empty with
// a Chroma server and no folder named.
func (c Config) SnapshotFolder() string {
	if c.Snapshot != "" || c.Chroma != "" {
		return c.Snapshot
	}
	return filepath.Join(c.StoreFolder(), "snapshots")
}

// BlobFolder is where lazy files are kept: the folder that was named, or the embedded store's. It is empty with a Chroma
// server and no folder named, and for a bucket.
func (c Config) BlobFolder() string {
	switch {
	case IsBucket(c.Blobs):
		return ""
	case c.Blobs != "" || c.Chroma != "":
		return c.Blobs
	}
	return filepath.Join(c.StoreFolder(), "blobs")
}

// readFile returns the path of the file too, empty if there is none.
func readFile(path string, explicit bool) (string, file, error) {
	if path == "" {
		path = DefaultFile
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return "", file{}, checkMisspelt(path)
	}
	if err != nil {
		return "", file{}, fmt.Errorf("read configuration: %w", err)
	}
	f, err := parse(path, data)
	return path, f, err
}

// checkMisspelt fails where there is a file that somebody may think is the configuration.
func checkMisspelt(path string) error {
	other := strings.TrimSuffix(path, ".yaml") + ".yml"
	if _, err := os.Stat(other); err == nil {
		return fmt.Errorf("%w: %s is not read: call it %s, or name it by --config", ErrInvalid, other, path)
	}
	return nil
}
