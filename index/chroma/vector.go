package chroma

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// vector is an embedding, which gets through JSON bit by bit. A vector that is null, or has a null in it, as servers
// write what is not a number, is empty.
type vector []float32

// size is about the number of bytes of v in JSON, which are at most twice as many.
func (v vector) size() int { return 12 * len(v) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *vector) UnmarshalJSON(text []byte) error {
	*v = nil
	if bytes.Contains(text, []byte("null")) {
		return nil
	}
	return json.Unmarshal(text, (*[]float32)(v))
}

// MarshalJSON implements json.Marshaler. A server may read a number as a float64, not always as the nearest one, and
// round that to a float32: where the shortest text would miss so, as 7.038531e-26 does, all digits are sent.
func (v vector) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, v.size()), '[')
	for i, f := range v {
		if i > 0 {
			text = append(text, ',')
		}
		n := len(text)
		text = strconv.AppendFloat(text, float64(f), 'g', -1, 32)
		read, err := strconv.ParseFloat(string(text[n:]), 64)
		if err != nil {
			return nil, err
		}
		const slack = 1e-15
		if float32(read*(1-slack)) != f || float32(read*(1+slack)) != f {
			text = strconv.AppendFloat(text[:n], float64(f), 'g', -1, 64)
		}
	}
	return append(text, ']'), nil
}
