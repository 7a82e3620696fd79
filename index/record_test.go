package index_test

import (
	"errors"
	"reflect"
	"regexp"
	"testing"
	"unicode"

	"github.com/chromafs/chromafs/index"
)

// Every text of a record is looked at and counted, those of fields to come too.
func TestRecordText(t *testing.T) {
	fields := reflect.TypeFor[index.Metadata]()
	texts := 0
	set := func(text string, into func(r *index.Record)) {
		t.Helper()
		texts++
		r := index.Record{ID: "a"}
		into(&r)
		if err := r.Validate(); (err == nil) != index.Clean(text) {
			t.Errorf("%+v: %v", r, err)
		}
		if got := r.Size(); got != len(text) && got != len(text)+1 { // one for the id
			t.Errorf("%+v: size %d, want %d", r, got, len(text))
		}
	}
	for _, text := range []string{"good", "NUL\x00", "\xff", "\ufffd"} {
		set(text, func(r *index.Record) { r.ID = text })
		set(text, func(r *index.Record) { r.Document = text })
		for i := range fields.NumField() {
			field := func(r *index.Record) reflect.Value { return reflect.ValueOf(&r.Metadata).Elem().Field(i) }
			switch fields.Field(i).Type.Kind() {
			case reflect.String:
				set(text, func(r *index.Record) { field(r).SetString(text) })
			case reflect.Slice:
				set(text, func(r *index.Record) { field(r).Set(reflect.ValueOf([]string{text})) })
			}
		}
	}
	if texts < 4*10 {
		t.Errorf("only %d texts", texts)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		records []index.Record
		valid   bool
	}{
		{nil, true},
		{[]index.Record{{ID: "a"}, {ID: "b"}}, true},
		{[]index.Record{{ID: "a"}, {}}, false},
		{[]index.Record{{ID: "a"}, {ID: "b"}, {ID: "a"}}, false},
		{[]index.Record{{ID: "a"}, {ID: "b", Document: "\xff"}}, false},
	} {
		if err := index.Validate(test.records); (err == nil) != test.valid {
			t.Errorf("%+v: %v", test.records, err)
		}
	}
}

func TestValidateCopies(t *testing.T) {
	good := index.Copy{From: "a", To: "b"}
	for _, test := range []struct {
		copies []index.Copy
		is     error
	}{
		{nil, nil},
		{[]index.Copy{good, {From: "a", To: "c"}, {From: "a", To: "a"}, {From: "d", To: "d"}}, nil},
		{[]index.Copy{good, {To: "c"}}, index.ErrNoRecord},
		{[]index.Copy{good, {From: "\xff", To: "c"}}, index.ErrNoRecord},
		{[]index.Copy{good, {From: "a"}}, errAny},
		{[]index.Copy{good, {From: "a", To: "\x00"}}, errAny},
		{[]index.Copy{good, {From: "a", To: "c", Metadata: index.Metadata{Groups: []string{"\xff"}}}}, errAny},
		{[]index.Copy{good, good}, errAny},
		{[]index.Copy{good, {From: "b", To: "c"}}, errAny},
		{[]index.Copy{good, {From: "c", To: "a"}}, errAny},
		{[]index.Copy{{From: "b", To: "a"}, good}, errAny},
	} {
		err := index.ValidateCopies(test.copies)
		if (err == nil) != (test.is == nil) || errors.Is(err, index.ErrNoRecord) != (test.is == index.ErrNoRecord) {
			t.Errorf("%+v: %v, want %v", test.copies, err, test.is)
		}
	}
}

var errAny = errors.New("any")

// Two runes are of one class exactly if (?i) of package regexp takes them for equal.
func TestFoldClass(t *testing.T) {
	compared := 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if unicode.SimpleFold(r) == r {
			continue
		}
		pattern := regexp.MustCompile("(?i)^" + regexp.QuoteMeta(string(r)) + "$")
		for _, other := range []rune{unicode.SimpleFold(r), unicode.ToUpper(r), unicode.ToLower(r), r + 1, 'i', 'S'} {
			compared++
			if got, want := index.FoldClass(r) == index.FoldClass(other), pattern.MatchString(string(other)); got != want {
				t.Errorf("%q and %q: %t, want %t", r, other, got, want)
			}
		}
	}
	if compared == 0 {
		t.Error("no rune has a case")
	}
}
