package chroma

import (
	"strings"
	"testing"
	"time"
)

func TestValidateName(t *testing.T) {
	for name, valid := range map[string]bool{
		"docs": true, "abc": true, "a-b": true, "a_b.c": true, "0.1.2": true, "1.2.3.4.5": true, "Docs9": true,
		strings.Repeat("a", 512): true,
		"":                       false, "ab": false, "-docs": false, "docs_": false, ".docs": false, "do cs": false, "do/cs": false,
		"a..b": false, "1.2.3.4": false, "döcs": false, "docs\n": false, strings.Repeat("a", 513): false,
	} {
		if err := ValidateName(name); (err == nil) != valid {
			t.Errorf("%q: %v, want valid %t", name, err, valid)
		}
	}
}

func TestOptions(t *testing.T) {
	for raw, want := range map[string]string{
		"http://localhost:8000": "http://localhost:8000", "https://h/": "https://h", "http://h:1/api/v2": "http://h:1",
		"http://h/chroma/api/v2/": "http://h/chroma", "http://me:pass@h": "http://me:pass@h", "http://[::1]:8000": "http://[::1]:8000",
	} {
		o := Options{URL: raw, Collection: "docs"}
		u, err := o.validate()
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v, want %q", raw, u, err, want)
		}
		if o.Timeout != DefaultTimeout || o.Tenant != "default_tenant" || o.Database != "default_database" {
			t.Errorf("%q: defaults are %+v", raw, o)
		}
	}
	for _, raw := range []string{
		"", "localhost:8000", "localhost", "ftp://h", "http://", "http://:8000", "http://h?x=1", "http://h#x", "http://h:port",
		"ftp://me:hunter2@h", "http://me:hunter2@h:port", "http://me:hunter2@h/%zz",
		"http://h?token=hunter2", "http://h#hunter2", "ftp://hunter2@h",
	} {
		_, err := (&Options{URL: raw, Collection: "docs"}).validate()
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if _, err := (&Options{URL: "http://h", Collection: "docs", Timeout: -time.Second}).validate(); err == nil {
		t.Error("a negative timeout is taken")
	}
}

func TestCloud(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://api.trychroma.com": true, "https://API.TryChroma.com:443": true, "https://trychroma.com": true,
		"https://nottrychroma.com": false, "https://trychroma.com.example.org": false, "http://localhost": false,
		"": false, "api.trychroma.com": false, "https://%zz.trychroma.com": false,
	} {
		if got := IsCloud(raw); got != want {
			t.Errorf("%q: %t, want %t", raw, got, want)
		}
	}
}
