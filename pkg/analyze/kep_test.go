package analyze

import (
	"math"
	"testing"
)

// The recursion that KEP-4420 prints, with its missing parentheses: C_n =
// C_(n-1) + (1-C_(n-1)) ((n-1)/N)^t.
func kepRecursion(names int64, attempts int, existing, creates int64) float64 {
	var c float64
	for i := existing; i < existing+creates; i++ {
		c += (1 - c) * math.Pow(float64(i)/float64(names), float64(attempts))
	}
	return c
}

// threshold returns the smallest number of creates into an empty pool that fail with probability p.
func threshold(t *testing.T, m Model, p float64) int64 {
	t.Helper()
	room, err := m.Room(0, p)
	if err != nil {
		t.Fatal(err)
	}
	return room + 1
}

func TestKEPRecursion(t *testing.T) {
	const recursionError = 2e-14
	names, err := NamePoolSize(SuffixLength)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		attempts          int
		existing, creates int64
	}{
		{1, 0, 500},
		{1, 0, 5000},
		{1, 100_000, 100},
		{1, names - 10, 10},
		{7, 0, 1_000_000},
		{8, 0, 1_000_000},
		{8, 500_000, 30_000},
		{8, 5_000_000, 1000},
		{16, 3_000_000, 400_000},
		{64, 10_000_000, 200_000},
		{1024, 14_200_000, 140_000},
	} {
		got := newModel(t, names, c.attempts).AnyFails(c.existing, c.creates).Float64()
		if want := kepRecursion(names, c.attempts, c.existing, c.creates); !near(got, want, recursionError) {
			t.Errorf("%+v: %v, by the KEP's recursion %v", c, got, want)
		}
	}
}

// The numbers of KEP-4420 and of the comment in store.go, and the exact numbers.
func TestKEPClaims(t *testing.T) {
	k5, k10, k11 := int64(14348907), int64(205891132094649), int64(5559060566555523)
	for _, c := range []struct {
		claim    string
		names    int64
		attempts int
		p        float64
		want     int64
	}{
		{"50% before 5000 names", k5, 1, 0.5, 4461},
		{"0.1% at 500 names (wrong)", k5, 1, 0.001, 170},
		{"0.1% at 1 million with 7 attempts", k5, 7, 0.001, 1000300},
		{"0.1% with the 8 attempts that are shipped", k5, 8, 0.001, 1362495},
		{"10 characters do not reach 1 million", k10, 1, 0.001, 641864},
		{"11 characters do", k11, 1, 0.001, 3335220},
	} {
		if got := threshold(t, newModel(t, c.names, c.attempts), c.p); got != c.want {
			t.Errorf("%s: %d, want %d", c.claim, got, c.want)
		}
	}

	for _, c := range []struct {
		claim    string
		attempts int
		creates  int64
		want     float64
	}{
		{"500 names", 1, 500, 8.65645810790e-3},
		{"5000 names", 1, 5000, 5.81497927284e-1},
		{"1 in 1.6e13 for 100k", 8, 100_000, 6.1828e-14},
	} {
		if got := newModel(t, k5, c.attempts).AnyFails(0, c.creates).Float64(); !near(got, c.want, 1e-5) {
			t.Errorf("%s: %v, want %v", c.claim, got, c.want)
		}
	}
}

// The exact values of the KEP's table of suffix lengths. They are the names until 50% and 0.1%
// without retries.
func TestKEPSuffixTable(t *testing.T) {
	for length, want := range map[int][2]int64{
		5: {4461, 170}, 6: {23176, 881}, 7: {120421, 4576}, 8: {625725, 23774},
		9: {3251358, 123528}, 10: {16894548, 641864}, 11: {87786642, 3335220},
	} {
		names, err := NamePoolSize(length)
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, names, 1)
		if got := [2]int64{threshold(t, m, 0.5), threshold(t, m, 0.001)}; got != want {
			t.Errorf("%d characters: %d, want %d", length, got, want)
		}
	}
}
