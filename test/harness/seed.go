package harness

import (
	"os"
	"strconv"
	"testing"
)

// Seed returns GENNAME_SEED, or 1, and logs it. So a check that blocks a merge fails only because of the change, and a
// failure can be repeated. "make -f lab/Makefile chance" uses a new seed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv("GENNAME_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GENNAME_SEED=%d", seed)
	return seed
}
