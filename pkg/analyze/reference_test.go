package analyze

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// reference is testdata/reference.json (values of 25 digits from big-integer
// products, exact power sums and Gamma functions) together with
// testdata/extra.json (written by testdata/extra.py).
type reference struct {
	Rows       []referenceRow
	Thresholds []referenceRow
	Room       []referenceRow `json:"headroom"`
	Drop       []referenceRow
}

type referenceRow struct {
	Quantity string
	K        int64 `json:",string"`
	M        int64 `json:",string"`
	N        int64 `json:",string"`
	T        int
	P        decimal
	Value    decimal

	// the probabilities just below and at a threshold, and at a room and just above a room
	PBefore decimal `json:"p_before"`
	PAt     decimal `json:"p_at"`
	PNext   decimal `json:"p_next"`
}

func (r referenceRow) model(t *testing.T) Model {
	t.Helper()
	return newModel(t, r.N, max(r.T, 1))
}

// decimal is a number with more digits than a float64 has.
type decimal string

// float64 returns the nearest float64, which is 0 below its range.
func (d decimal) float64(t *testing.T) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// log10 returns the decimal logarithm, also of a number that is too small for a float64.
func (d decimal) log10(t *testing.T) float64 {
	t.Helper()
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(d)), "e")
	if exponent == "" {
		exponent = "0"
	}
	return math.Log10(decimal(mantissa).float64(t)) + decimal(exponent).float64(t)
}

func loadReference(t *testing.T) reference {
	t.Helper()
	var all reference
	for _, name := range []string{"testdata/reference.json", "testdata/extra.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var part reference
		if err := json.Unmarshal(data, &part); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all.Rows = append(all.Rows, part.Rows...)
		all.Thresholds = append(all.Thresholds, part.Thresholds...)
		all.Room = append(all.Room, part.Room...)
		all.Drop = append(all.Drop, part.Drop...)
	}
	return all
}

func newModel(t testing.TB, names int64, attempts int) Model {
	t.Helper()
	m, err := NewModel(names, attempts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// smallest is the value below which a float64 of this package may have lost digits. Below it, the
// test compares logarithms.
const smallest = 1e-300

// tolerance is the largest relative error that a result may have. The package documents 1e-9.
const tolerance = 1e-9

func (d decimal) isZero() bool { return strings.Trim(string(d), "0.") == "" }

// check compares a result with a reference value. check accepts the result if both are below smallest, but not zero.
func check(t *testing.T, quantity string, row any, got float64, value decimal, tolerance float64) {
	t.Helper()
	want := value.float64(t)
	if !near(got, want, tolerance) && (value.isZero() || got < 0 || got > 2*smallest || want >= smallest) {
		t.Errorf("%s = %v, want %v: %+v", quantity, got, value, row)
	}
}

func TestReferenceRows(t *testing.T) {
	for _, row := range loadReference(t).Rows {
		m := row.model(t)
		anyFails := m.AnyFails(row.K, row.M)
		got, tolerance := 0.0, tolerance
		switch row.Quantity {
		case "p_any_failed":
			got = anyFails.Float64()
			if want := row.Value; want.float64(t) < 0.5 && !want.isZero() && !near(anyFails.Log10(), want.log10(t), tolerance) {
				t.Errorf("log10 p_any_failed = %v: %+v", anyFails.Log10(), row)
			}
		case "survival": // an error of the hazard is an absolute one of the exponent
			got, tolerance = math.Exp(-anyFails.Hazard()), tolerance*(1+anyFails.Hazard())
		case "neg_ln_survival":
			got = anyFails.Hazard()
		case "next_create_failure":
			got = m.NextFails(row.K)
		case "sum_q":
			got = m.ExpectedFailures(row.K, row.M)
		default:
			t.Fatalf("unknown quantity %q", row.Quantity)
		}
		check(t, row.Quantity, row, got, row.Value, tolerance)
	}
}

// isCount reports whether a number of creates is the exact one, or for large pools within 2e-12 of it. With
// 27^5 names it is exact.
func isCount(t *testing.T, got int64, want decimal) bool {
	t.Helper()
	exact, err := strconv.ParseInt(string(want), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return math.Abs(float64(got-exact)) <= math.Floor(2e-12*float64(exact))
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

func TestReferenceThresholds(t *testing.T) {
	for _, row := range loadReference(t).Thresholds {
		m := row.model(t)
		got := threshold(t, m, row.P.float64(t))
		if !isCount(t, got, row.Value) {
			t.Errorf("the threshold is %d, want %v: %+v", got, row.Value, row)
		}
		check(t, "p before", row, m.AnyFails(0, got-1).Float64(), row.PBefore, tolerance)
		check(t, "p at", row, m.AnyFails(0, got).Float64(), row.PAt, tolerance)
	}
}

func TestReferenceRoom(t *testing.T) {
	for _, row := range loadReference(t).Room {
		m := row.model(t)
		got, err := m.Room(row.K, row.P.float64(t))
		if err != nil || !isCount(t, got, row.Value) {
			t.Errorf("Room = %d, %v, want %v: %+v", got, err, row.Value, row)
		}
		check(t, "p at", row, m.AnyFails(row.K, got).Float64(), row.PAt, tolerance)
		check(t, "p next", row, m.AnyFails(row.K, got+1).Float64(), row.PNext, tolerance)
	}
}

// The expectation of dropped creates has no closed form, so ExpectedFailures is its upper bound.
func TestReferenceDrop(t *testing.T) {
	for _, row := range loadReference(t).Drop {
		exact, bound := row.Value.float64(t), row.model(t).ExpectedFailures(row.K, row.M)
		if bound < exact {
			t.Errorf("ExpectedFailures = %v, below the exact %v: %+v", bound, exact, row)
		}
	}
}
