package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write README.md from measured/results.json")

// The page is up to date with results.json.
func TestPage(t *testing.T) {
	got, err := published(t).page()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("README.md", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("README.md is not what the results make (go test ./lab/experiment -run TestPage -update writes it):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// results.json follows from the numbers under each prefix and from the current model.
func TestResults(t *testing.T) {
	want := published(t)
	got := want
	got.FirstFailures, got.Rates = nil, nil
	for _, s := range publishedSeen(t) {
		f, err := NewFirstFailure(s.ServerAttempts, s.ClientAttempts, s.Creates)
		if err != nil {
			t.Fatal(err)
		}
		got.FirstFailures = append(got.FirstFailures, f)
	}
	for _, r := range want.Rates {
		rate, err := NewRate(r.ServerAttempts, r.Existing, r.Creates, r.Failures)
		if err != nil {
			t.Fatal(err)
		}
		got.Rates = append(got.Rates, rate)
	}
	got.Conclude()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
		t.Errorf("measured/results.json (-) is not what follows (+):\n%s", diff)
	}
}

func published(t *testing.T) (r Results) {
	t.Helper()
	data, err := os.ReadFile("measured/results.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// publishedSeen reads the file that table wrote.
func publishedSeen(t *testing.T) (seen []Seen) {
	t.Helper()
	data, err := os.ReadFile("measured/first-failures.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		var n [3]int
		for i, field := range row {
			if n[i], err = strconv.Atoi(field); err != nil {
				t.Fatal(err)
			}
		}
		if last := len(seen) - 1; last < 0 || seen[last].ServerAttempts != n[0] || seen[last].ClientAttempts != n[1] {
			seen = append(seen, Seen{ServerAttempts: n[0], ClientAttempts: n[1]})
		}
		s := &seen[len(seen)-1]
		s.Creates = append(s.Creates, n[2])
	}
	return seen
}
