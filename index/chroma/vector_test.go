package chroma

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// oddBits are float32 at the ends of their range, and neighbours whose shortest text a float64 rounds to the other one.
var oddBits = []uint32{
	0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0x3dcccccd, 0x15ae43fd, 0x15ae43fe,
}

func fromBits(bits []uint32) vector {
	v := make(vector, len(bits))
	for i, b := range bits {
		v[i] = math.Float32frombits(b)
	}
	return v
}

func bitsOf(v vector) []uint32 {
	bits := make([]uint32, len(v))
	for i, f := range v {
		bits[i] = math.Float32bits(f)
	}
	return bits
}

// randomBits are finite float32 of every size, the odd ones first.
func randomBits(random *rand.Rand, n int) []uint32 {
	bits := slices.Clone(oddBits)
	for len(bits) < n {
		if b := random.Uint32(); b>>23&0xff != 0xff {
			bits = append(bits, b)
		}
	}
	return bits
}

// numbers are the texts of the numbers in an array.
func numbers(t *testing.T, text []byte) []json.Number {
	t.Helper()
	var list []json.Number
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%v in %.100s", err, text)
	}
	return list
}

// The text of a vector stands for the same bits whether it is read as float32, or as a float64 that is rounded, or as one
// of the float64 beside that.
func TestVectorText(t *testing.T) {
	bits := randomBits(rand.New(rand.NewPCG(1, 1)), 100_000)
	v := fromBits(bits)
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 2*v.size() {
		t.Errorf("%d bytes, size %d", len(text), v.size())
	}
	list := numbers(t, text)
	if len(list) != len(bits) {
		t.Fatalf("%d numbers of %d", len(list), len(bits))
	}
	for i, number := range list {
		f, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, near := range []float64{f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1))} {
			if got := math.Float32bits(float32(near)); got != bits[i] && f != 0 {
				t.Errorf("%#x is written as %s and read as %#x", bits[i], number, got)
			}
		}
	}
	var got vector
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(bitsOf(got), bits) {
		t.Errorf("vector is another one after decoding, %v", err)
	}
}

// A vector that is not whole is none, never one with a zero in the place of what is missing.
func TestVectorDamaged(t *testing.T) {
	for text, valid := range map[string]bool{
		"null": true, "[]": true, "[null]": true, "[1,null,2]": true, `["1"]`: false, "1": false, "[1e39]": false, "{}": false,
		"[[1]]": false, "[true]": false,
	} {
		v := vector{7}
		if err := json.Unmarshal([]byte(text), &v); (err == nil) != valid || err == nil && len(v) > 0 {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
}
