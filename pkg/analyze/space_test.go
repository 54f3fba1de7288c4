package analyze

import (
	"math"
	"testing"
)

func TestSpace(t *testing.T) {
	for length, want := range map[int]int64{1: 27, 5: 14348907, 11: 5559060566555523, 13: 4052555153018976267} {
		if got, err := Space(length); got != want || err != nil {
			t.Errorf("Space(%d) = %d, %v, want %d", length, got, err, want)
		}
	}
	for _, length := range []int{-1, 0, 14, math.MaxInt} {
		if got, err := Space(length); err == nil {
			t.Errorf("Space(%d) = %d, want an error", length, got)
		}
	}
}
