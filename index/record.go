package index

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validate returns an error for the first record that no Store takes: one that has no id, whose id another has too, or
// that holds NUL or what is not UTF-8.
func Validate(records []Record) error {
	seen := make(map[string]bool, len(records))
	for i := range records {
		r := &records[i]
		if err := r.Validate(); err != nil {
			return err
		}
		if seen[r.ID] {
			return fmt.Errorf("record %q: twice in one batch", r.ID)
		}
		seen[r.ID] = true
	}
	return nil
}

// Validate returns an error for a record without an id, or with text that is not Clean.
func (r *Record) Validate() error {
	if r.ID == "" {
		return errors.New("record without an id")
	}
	if !Clean(r.Document) {
		return fmt.Errorf("record %q: its document is not UTF-8, or holds NUL", r.ID)
	}
	for text := range r.keys {
		if !Clean(text) {
			return fmt.Errorf("record %q: its id or metadata are not UTF-8, or hold NUL", r.ID)
		}
	}
	return nil
}

// ValidateCopies returns an error for the first copy that no Store takes: one whose To and metadata Validate would refuse
// in a record, one of a From that no record can have, which is ErrNoRecord, and one whose From another copy overwrites,
// since it would depend on their order what is copied.
func ValidateCopies(copies []Copy) error {
	from := make(map[string]string, len(copies))
	for i := range copies {
		c := &copies[i]
		to := Record{ID: c.To, Metadata: c.Metadata}
		if err := to.Validate(); err != nil {
			return err
		}
		if c.From == "" || !Clean(c.From) {
			return fmt.Errorf("record %q: %w", c.From, ErrNoRecord)
		}
		if _, twice := from[c.To]; twice {
			return fmt.Errorf("record %q: twice in one batch", c.To)
		}
		from[c.To] = c.From
	}
	for i := range copies {
		c := &copies[i]
		if f, ok := from[c.From]; ok && f != c.From {
			return fmt.Errorf("record %q: copied and overwritten in one batch", c.From)
		}
	}
	return nil
}

// Size is the number of bytes of all text of the record.
func (r *Record) Size() int {
	n := len(r.Document)
	for text := range r.keys {
		n += len(text)
	}
	return n
}

// keys are all texts of the record but its document.
func (r *Record) keys(yield func(string) bool) {
	m := &r.Metadata
	for _, text := range [...]string{r.ID, m.Kind, m.PageSlug, m.Visibility, m.Title, m.Headings, m.Site, m.URL,
		m.Snapshot, m.Parts, m.Retiring, m.Part} {
		if !yield(text) {
			return
		}
	}
	for _, group := range m.Groups {
		if !yield(group) {
			return
		}
	}
}

// Clean reports whether s is UTF-8 without NUL, as all text of a record is.
func Clean(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// FoldClass is the least of the runes that equal r under simple case folding, and stands for them all.
func FoldClass(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
