package create

import "testing"

// A remainder counts all objects, and tells a bounded number of shares apart.
func TestRemainderIsBounded(t *testing.T) {
	var r Remainder
	for n := 2 * maxShares; n > 0; n-- {
		d := document("configmaps/a/x-")
		d.Number = n
		d.Object.SetGenerateName(string(rune('a'+n)) + "-")
		r.leave(d, 5)
		r.leave(d, 5)
	}
	shares := r.Shares()
	if len(r.shares) != maxShares || r.Left != 2*maxShares*10 || len(shares) != MaxNamed || shares[0].First > shares[1].First {
		t.Errorf("%d shares, %d left, %v", len(r.shares), r.Left, shares)
	}
}
