package experiment

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// tail bounds false alarms. If the model is right, each count of a test has a known exact distribution. A test fails
// if its count lies in a tail of this probability, on either side. With four counts and two sides, a run has a false
// alarm with a probability below 8e-7, which is less than one in a million. TestPower shows which wrong servers the
// counts detect.
const tail = 1e-7

// count is a number to measure on a server that makes tries attempts per create.
type count struct {
	name  string
	tries int
	// expected is the distribution of the number under the model of the server.
	expected func(analyze.Model) distribution
	measure  func(*testing.T, *Server) int
}

var counts = []count{
	firstConflicts(1, 40),
	firstConflicts(8, 8),
	conflicts(1, 182, 125),
	conflicts(8, 569, 1500), // with about this many names, one attempt more or less shows best
}

// firstConflicts measures the sum, over all prefixes, of the creates up to and including the first that fails.
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

// conflicts counts the failures of creates under four prefixes, each with the given number of existing names.
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

// Real servers, with and without retries, make the expected number of attempts, and have as many conflicts as the
// model predicts. (KEP-4420 calls this not testable end to end.)
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

// TestPower bounds the probability that a server with a wrong number of attempts passes a count. The conflict rate
// alone detects 7 attempts instead of 8 in 99.9% of runs and 9 in 96%. It detects any other number almost always. In
// addition, TestServersFollowTheModel compares the number of attempts under a full prefix exactly. A kube-apiserver
// built with maxNameGenerationCreateAttempts = 7 failed both.
func TestPower(t *testing.T) {
	for _, test := range []struct {
		count
		wrong int // attempts
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
