package experiment

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// tail bounds false alarms. If the model is right, what a test counts has an
// exact distribution; the test fails if the count lies so far out, on one side,
// that this far or further has a probability of tail or less. With four counts
// and two sides that is fewer than 8e-7 false alarms per run, less than one in
// a million runs. TestPower says which wrong servers the counts find.
const tail = 1e-7

// count is something to count on a server that makes a number of tries.
type count struct {
	name  string
	tries int
	// expected is its distribution on a server whose model it is.
	expected func(analyze.Model) distribution
	measure  func(*testing.T, *Server) int
}

var counts = []count{
	firstConflicts(1, 40),
	firstConflicts(8, 8),
	conflicts(1, 182, 125),
	conflicts(8, 569, 1500), // with about so many names, one try more or less shows best
}

// firstConflicts counts the creates under prefixes, together, up to and
// including the first that fails under each.
func firstConflicts(tries, prefixes int) count {
	return count{
		"creates to the first conflict", tries,
		func(m analyze.Model) distribution { return firstConflict(m).sum(prefixes) },
		func(t *testing.T, s *Server) (sum int) {
			seen, err := s.FirstConflicts(t.Context(), prefixes, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range seen {
				sum += n
			}
			return sum
		},
	}
}

// conflicts counts the creates that fail while a number of names exist, of so
// many under each of four prefixes.
func conflicts(tries, existing, creates int) count {
	const prefixes = 4
	return count{
		"conflicts", tries,
		func(m analyze.Model) distribution { return binomial(prefixes*creates, m.NextFails(int64(existing))) },
		func(t *testing.T, s *Server) int {
			seen, err := s.Conflicts(t.Context(), []int{existing}, prefixes, creates)
			if err != nil {
				t.Fatal(err)
			}
			return seen[0]
		},
	}
}

// Real servers, with and without retries, make as many tries as they should and
// meet conflicts as often as the model says. (KEP-4420 calls this not testable
// end to end.)
func TestServersFollowTheModel(t *testing.T) {
	controlplane.SkipIfShort(t)
	for _, tries := range []int{1, 8} {
		server, err := Start(t.Context(), os.Stderr, tries)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
		if made, err := server.Tries(t.Context()); err != nil || made != tries {
			t.Errorf("a create under a full prefix makes %d tries (%v), want %d", made, err, tries)
		}
		for _, c := range counts {
			if c.tries != tries {
				continue
			}
			d := c.expected(mustModel(t, tries))
			low, high := d.bounds(tail)
			n := c.measure(t, server)
			t.Logf("%d tries: %d %s, expected %.0f, bounds %d and %d", tries, n, c.name, d.mean(), low, high)
			if n < low || n > high {
				t.Errorf("%d tries: %d %s, want %d to %d", tries, n, c.name, low, high)
			}
		}
	}
}

// A server that makes another number of tries passes a count with these
// probabilities at most. The rate of conflicts alone finds 7 tries instead of 8
// in 999 of 1000 runs, 9 in 96 of 100, and any other number practically always;
// the number of tries under a full prefix is compared exactly besides. A
// kube-apiserver built with maxNameGenerationCreateAttempts = 7 failed both.
func TestPower(t *testing.T) {
	for _, test := range []struct {
		count
		wrong int // tries
		most  float64
	}{
		{counts[0], 2, 1e-12},
		{counts[1], 4, 0.01},
		{counts[2], 2, 1e-12},
		{counts[3], 6, 1e-20},
		{counts[3], 7, 0.001},
		{counts[3], 9, 0.04},
		{counts[3], 10, 1e-9},
	} {
		low, high := test.expected(mustModel(t, test.tries)).bounds(tail)
		passes := test.expected(mustModel(t, test.wrong)).within(low, high)
		t.Logf("%s: %d tries instead of %d pass with probability %.1e", test.name, test.wrong, test.tries, passes)
		if !(passes <= test.most) {
			t.Errorf("%s: %d tries instead of %d pass with probability %g, want %g at most", test.name, test.wrong, test.tries, passes, test.most)
		}
	}
}

func mustModel(t *testing.T, tries int) analyze.Model {
	t.Helper()
	m, err := newModel(tries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
