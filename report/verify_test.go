package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/verify"
)

func TestVerifyViewers(t *testing.T) {
	all := verify.ViewerReport{Name: "anonymous", Others: 1, Visible: 12}
	some := verify.ViewerReport{Name: "anonymous", Visible: 1001, Hidden: 2}
	rest := verify.ViewerReport{Name: `group "staff"`, Others: 2, Visible: 1002, Hidden: 1}
	tests := []struct {
		name    string
		viewers []verify.ViewerReport
		want    string
	}{
		{"none", nil, ""},
		{"nothing hidden", []verify.ViewerReport{all}, ""},
		{"hidden from anonymous", []verify.ViewerReport{some, rest}, "access: 4 viewers checked; anonymous sees 1,001 of 1,003 files\n"},
		{"hidden from a group alone", []verify.ViewerReport{all, rest}, "access: 5 viewers checked; anonymous sees 12 of 12 files\n"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if err := Verify(&out, Text, &verify.Report{Viewers: tt.viewers, Snapshot: "s1:abc"}, 0.5); err != nil {
			t.Fatal(err)
		}
		line, verdict, _ := strings.Cut(out.String(), "ok: ")
		if line != tt.want || !strings.HasSuffix(verdict, "in 0.5 s; s1:abc\n") {
			t.Errorf("%s: got %q, want %q", tt.name, out.String(), tt.want)
		}
	}
}

func TestVerifyViewersJSON(t *testing.T) {
	for _, list := range [][]verify.ViewerReport{nil, {{Name: "anonymous", Others: 3, Visible: 1, Hidden: 2}, {Name: "all groups"}}} {
		var out bytes.Buffer
		if err := Verify(&out, JSON, &verify.Report{Viewers: list}, 0.5); err != nil {
			t.Fatal(err)
		}
		var got struct{ Viewers []verify.ViewerReport }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Viewers == nil || len(got.Viewers) != len(list) || len(list) > 0 && got.Viewers[0] != list[0] {
			t.Errorf("got %+v, want %+v", got.Viewers, list)
		}
	}
}

func TestVerifyLazy(t *testing.T) {
	for _, tt := range []struct {
		report verify.Report
		want   string
	}{
		{verify.Report{}, ""},
		{verify.Report{Lazy: 2, LazyBytes: 6_400_000, Fetched: 2}, "lazy: 2 files, 6.4 MB, fetched and compared\n"},
		{verify.Report{Lazy: 1, LazyBytes: 70_000, Fetched: 1}, "lazy: 1 file, 70.0 kB, fetched and compared\n"},
		{verify.Report{Lazy: 2000, LazyBytes: 6_400_000, Fetched: 1999}, "lazy: 2,000 files, 6.4 MB, 1,999 of them fetched and compared\n"},
		{verify.Report{Lazy: 2, LazyBytes: 6_400_000, NoFetch: true}, "lazy: 2 files, 6.4 MB, not fetched (--no-fetch): existence and size by HEAD only\n"},
	} {
		var out bytes.Buffer
		if err := Verify(&out, Text, &tt.report, 0.5); err != nil {
			t.Fatal(err)
		}
		if line, _, _ := strings.Cut(out.String(), "ok: "); line != tt.want {
			t.Errorf("got %q, want %q", line, tt.want)
		}
		out.Reset()
		if err := Verify(&out, JSON, &tt.report, 0.5); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Lazy, Fetched *int
			LazyBytes     *int64
			NoFetch       *bool
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want := tt.report; *got.Lazy != want.Lazy || *got.Fetched != want.Fetched || *got.LazyBytes != want.LazyBytes || *got.NoFetch != want.NoFetch {
			t.Errorf("got %s", out.String())
		}
	}
}
