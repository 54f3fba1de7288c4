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

// count is a number to measure on a server that makes that many attempts per create.
type count struct {
	name     string
	attempts int
	// expected is the distribution of the number under the model of the server.
	expected func(analyze.Model) distribution
	measure  func(*testing.T, *Server) int
}

var counts = []count{
	firstFailures(1, 40),
	firstFailures(8, 8),
	failures(1, 182, 125),
	failures(8, 569, 1500), // with about this many names, one attempt more or less shows best
}

// firstFailures measures the sum, over all prefixes, of the creates up to and including the first that fails.
func firstFailures(attempts, prefixes int) count {
	return count{
		"creates to the first failure", attempts,
		func(m analyze.Model) distribution { return firstFailure(m).sum(prefixes) },
		func(t *testing.T, s *Server) (sum int) {
			seen, err := s.FirstFailures(t.Context(), prefixes, 1)
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

// failures counts the failures of creates under four prefixes, each with the given number of existing names.
func failures(attempts, existing, creates int) count {
	const prefixes = 4
	return count{
		"failures", attempts,
		func(m analyze.Model) distribution { return binomial(prefixes*creates, m.NextFails(int64(existing))) },
		func(t *testing.T, s *Server) int {
			seen, err := s.Failures(t.Context(), []int{existing}, prefixes, creates)
			if err != nil {
				t.Fatal(err)
			}
			return seen[0]
		},
	}
}

// Real servers, with and without retries, make the expected number of attempts, and have as many failures as the
// model predicts. (KEP-4420 calls this not testable end to end.)
func TestServersFollowTheModel(t *testing.T) {
	controlplane.SkipIfShort(t)
	for _, attempts := range []int{1, 8} {
		server, err := Start(t.Context(), os.Stderr, attempts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
		if made, err := server.Attempts(t.Context()); err != nil || made != attempts {
			t.Errorf("a create under a full prefix makes %d attempts (%v), want %d", made, err, attempts)
		}
		for _, c := range counts {
			if c.attempts != attempts {
				continue
			}
			d := c.expected(mustModel(t, attempts))
			low, high := d.bounds(tail)
			n := c.measure(t, server)
			t.Logf("%d attempts: %d %s, expected %.0f, bounds %d and %d", attempts, n, c.name, d.mean(), low, high)
			if n < low || n > high {
				t.Errorf("%d attempts: %d %s, want %d to %d", attempts, n, c.name, low, high)
			}
		}
	}
}

// TestPower bounds the probability that a server with a wrong number of attempts passes a count. The failure rate
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
		low, high := test.expected(mustModel(t, test.attempts)).bounds(tail)
		passes := test.expected(mustModel(t, test.wrong)).within(low, high)
		t.Logf("%s: %d attempts instead of %d pass with probability %.1e", test.name, test.wrong, test.attempts, passes)
		if !(passes <= test.most) {
			t.Errorf("%s: %d attempts instead of %d pass with probability %g, want %g at most", test.name, test.wrong, test.attempts, passes, test.most)
		}
	}
}

func mustModel(t *testing.T, attempts int) analyze.Model {
	t.Helper()
	m, err := newModel(attempts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
