package report

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// newConfig returns a config for a thousand creates with suffixes of five characters.
func newConfig() Config {
	return Config{SuffixLength: 5, ClientAttempts: 3, Probability: 0.001, Creates: []int64{1000}}
}

// population returns a population with the server's number of attempts. 0 means that the number is unknown.
func population(existing int64, attempts int) Population {
	p := Population{
		PrefixRef: v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "p-"}, Existing: existing,
		Server: v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown},
	}
	if attempts > 0 {
		p.Server = v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceFlag}
	}
	return p
}

func newReport(t *testing.T, config Config, populations ...Population) *v1alpha1.CollisionReport {
	t.Helper()
	report, err := New(t.Context(), config, populations)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Each policy has its own number of attempts. The policies have the order in the documentation of the API. If the
// attempts are unknown, the values that depend on them are null.
func TestPolicies(t *testing.T) {
	rate := 24.0
	config := newConfig()
	config.PerDay, config.Days = &rate, 1
	for _, test := range []struct {
		attempts int
		want     map[v1alpha1.PolicyName]int
	}{
		{8, map[v1alpha1.PolicyName]int{"none": 1, "server": 8, "client": 3, "server+client": 24}},
		{0, map[v1alpha1.PolicyName]int{"none": 1, "server": 0, "client": 3, "server+client": 0}},
	} {
		item := newReport(t, config, population(1_000_000, test.attempts)).Items[0]
		var order []v1alpha1.PolicyName
		for _, p := range item.Policies {
			order = append(order, p.Name)
		}
		if diff := cmp.Diff([]v1alpha1.PolicyName{"none", "server", "client", "server+client"}, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		for name, attempts := range test.want {
			policy, churn := item.Policy(name), item.Churn.Policy(name)
			if attempts == 0 {
				if diff := cmp.Diff(&v1alpha1.Policy{Name: name}, policy); diff != "" {
					t.Errorf("%s with unknown attempts (-want +got):\n%s", name, diff)
				}
				if diff := cmp.Diff(&v1alpha1.ChurnPolicy{Name: name}, churn); diff != "" {
					t.Errorf("churn, %s with unknown attempts (-want +got):\n%s", name, diff)
				}
				continue
			}
			want := math.Pow(1_000_000/14_348_907.0, float64(attempts))
			if *policy.Attempts != attempts || math.Abs(*policy.NextCreateFails/want-1) > 1e-12 {
				t.Errorf("%s: %d attempts, the next fails with %g, want %d, %g",
					name, *policy.Attempts, *policy.NextCreateFails, attempts, want)
			}
			if *churn.Attempts != attempts || math.Abs(*churn.FailuresPerDay/(24*want)-1) > 1e-12 {
				t.Errorf("churn, %s: %d attempts, %g failures a day, want %d, %g",
					name, *churn.Attempts, *churn.FailuresPerDay, attempts, 24*want)
			}
		}
	}
}

// The verdict is the state of the prefix with the least room under the policy that is in force.
func TestVerdict(t *testing.T) {
	other := population(15_000, 1)
	other.Prefix = "q-"
	for _, test := range []struct {
		name        string
		populations []Population
		want        v1alpha1.CollisionVerdict
		closest     string
		room        int64
	}{
		{"nothing", nil, v1alpha1.CollisionVerdict{State: v1alpha1.CollisionOK}, "", 0},
		{"ok", []Population{population(3000, 8)}, v1alpha1.CollisionVerdict{State: v1alpha1.CollisionOK}, "p-", 1_359_494},
		{"risk", []Population{population(3000, 1)}, v1alpha1.CollisionVerdict{State: v1alpha1.CollisionRisk, Risk: 1}, "p-", 4},
		{"unknown", []Population{population(3000, 0)}, v1alpha1.CollisionVerdict{State: v1alpha1.CollisionRisk, Risk: 1, AttemptsUnknown: 1}, "p-", 4},
		{
			"the second",
			[]Population{population(3000, 0), other, population(3000, 8)},
			v1alpha1.CollisionVerdict{State: v1alpha1.CollisionFailing, Risk: 1, Failing: 1, AttemptsUnknown: 1},
			"q-", 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.want
			if test.closest != "" {
				want.Closest = v1alpha1.CollisionClosest{PrefixRef: v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: test.closest}, Room: test.room}
			}
			config := newConfig()
			config.Creates = []int64{10, 20}
			if diff := cmp.Diff(want, newReport(t, config, test.populations...).Verdict); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A prefix with room for at least 1,000 creates is no problem.
func TestStateOf(t *testing.T) {
	for room, want := range map[int64]v1alpha1.CollisionState{
		0: v1alpha1.CollisionFailing, 1: v1alpha1.CollisionRisk, 999: v1alpha1.CollisionRisk, 1000: v1alpha1.CollisionOK,
	} {
		if got := StateOf(room); got != want {
			t.Errorf("a room of %d is %s, want %s", room, got, want)
		}
	}
	if room := RoomOf(&v1alpha1.Policy{Room: &v1alpha1.Room{}}); room != math.MaxInt64 {
		t.Errorf("an unlimited room is %d", room)
	}
}

// A number out of range is an error. An impossible population is a PopulationError.
func TestErrors(t *testing.T) {
	for _, existing := range []int64{-1, 14_348_908} {
		var wrong *PopulationError
		_, err := New(t.Context(), newConfig(), []Population{population(existing, 8)})
		if !errors.As(err, &wrong) || wrong.Existing != existing || wrong.Names != 14_348_907 {
			t.Errorf("%d names: %v", existing, err)
		}
	}
	rate := -1.0
	for name, change := range map[string]func(*Config){
		"a suffix of no characters": func(config *Config) { config.SuffixLength = 0 },
		"no attempt":                func(config *Config) { config.ClientAttempts = 0 },
		"a probability above 1":     func(config *Config) { config.Probability = 1.5 },
		"a negative rate":           func(config *Config) { config.PerDay, config.Days = &rate, 1 },
	} {
		config := newConfig()
		change(&config)
		if _, err := New(t.Context(), config, []Population{population(5, 8)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, newConfig(), []Population{population(5, 8)}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
