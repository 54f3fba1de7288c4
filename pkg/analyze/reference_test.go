package analyze

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"
)

// reference is testdata/reference.json (values of 25 digits from big-integer
// products, exact power sums and Gamma functions) together with
// testdata/extra.json (written by testdata/extra.py).
type reference struct {
	Rows       []referenceRow
	Thresholds []referenceRow
	Room       []referenceRow
	Drop       []referenceRow
	Reuse      []referenceRow
	Equivalent []referenceRow
	Garwood    []struct {
		N                  int64
		Conf, Lower, Upper decimal
	}
}

type referenceRow struct {
	Quantity string
	K        int64 `json:",string"`
	M        int64 `json:",string"`
	N        int64 `json:",string"`
	T        int
	P        decimal
	Value    decimal

	// the probabilities just below and at a threshold, and at a room and
	// just above
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

func (d decimal) float64(t *testing.T) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (d decimal) big(t *testing.T) *big.Float {
	t.Helper()
	s := string(d)
	if s == "Infinity" {
		s = "Inf"
	}
	f, _, err := big.ParseFloat(s, 10, 320, big.ToNearestEven)
	if err != nil {
		t.Fatalf("%q: %v", d, err)
	}
	return f
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
		all.Reuse = append(all.Reuse, part.Reuse...)
		all.Equivalent = append(all.Equivalent, part.Equivalent...)
		all.Garwood = append(all.Garwood, part.Garwood...)
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

// errors keeps the largest relative error seen of each quantity.
type errors map[string]worst

type worst struct {
	count int
	error float64
	row   any
}

func (e errors) log(t *testing.T) {
	t.Helper()
	for quantity, w := range e {
		t.Logf("%-30s %4d values, largest relative error %.2g at %+v", quantity, w.count, w.error, w.row)
	}
}

// check compares a result with a reference value. It accepts the result if both are zero, infinite
// or below smallest.
func (e errors) check(t *testing.T, quantity string, row any, got float64, value decimal, tolerance float64) {
	t.Helper()
	want := value.big(t)
	if want.IsInf() || want.Sign() == 0 {
		if f, _ := want.Float64(); got != f {
			t.Errorf("%s = %v, want %v: %+v", quantity, got, f, row)
		}
		return
	}
	if math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("%s = %v, want %v: %+v", quantity, got, value, row)
		return
	}
	if want.Cmp(big.NewFloat(smallest)) < 0 && want.Sign() > 0 {
		if !(got >= 0 && got <= 2*smallest) {
			t.Errorf("%s = %v, want %v: %+v", quantity, got, value, row)
		}
		return
	}
	err := relativeError(got, want)
	w := e[quantity]
	w.count++
	if err >= w.error {
		w.error, w.row = err, row
	}
	e[quantity] = w
	if !(err <= tolerance) {
		t.Errorf("%s = %v, want %v, relative error %.3g: %+v", quantity, got, value, err, row)
	}
}

func relativeError(got float64, want *big.Float) float64 {
	difference := new(big.Float).SetPrec(320).SetFloat64(got)
	difference.Sub(difference, want)
	err, _ := difference.Quo(difference, want).Float64()
	return math.Abs(err)
}

// log10 returns the decimal logarithm of a positive number as a decimal.
func log10(x *big.Float) decimal {
	mantissa := new(big.Float)
	exp := x.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return decimal(strconv.FormatFloat(math.Log10(f)+float64(exp)*math.Log10(2), 'g', -1, 64))
}

func TestReferenceRows(t *testing.T) {
	seen := errors{}
	for _, row := range loadReference(t).Rows {
		m := row.model(t)
		anyFails := m.AnyFails(row.K, row.M)
		check := func(got, tolerance float64) {
			t.Helper()
			seen.check(t, row.Quantity, row, got, row.Value, tolerance)
		}
		switch row.Quantity {
		case "p_any_failed":
			check(anyFails.Float64(), tolerance)
			if p := row.Value.big(t); p.Sign() > 0 && p.Cmp(big.NewFloat(0.5)) < 0 {
				seen.check(t, "log10 p_any_failed", row, anyFails.Log10(), log10(p), tolerance)
			}
		case "survival": // an error of the hazard is an absolute one of the exponent
			check(math.Exp(-anyFails.Hazard()), tolerance*(1+anyFails.Hazard()))
		case "neg_ln_survival":
			check(anyFails.Hazard(), tolerance)
		case "next_create_failure":
			check(m.NextFails(row.K), tolerance)
		case "sum_q":
			check(m.ExpectedFailures(row.K, row.M), tolerance)
		case "expected_failed_persist":
			check(m.ExpectedFailuresRepeated(row.K, row.M), tolerance)
		case "expected_extra_tries":
			check(m.ExpectedExtraAttempts(row.K, row.M), tolerance)
		default:
			t.Fatalf("unknown quantity %q", row.Quantity)
		}
	}
	seen.log(t)
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
	seen := errors{}
	for _, row := range loadReference(t).Thresholds {
		m := row.model(t)
		got := threshold(t, m, row.P.float64(t))
		if !isCount(t, got, row.Value) {
			t.Errorf("the threshold is %d, want %v: %+v", got, row.Value, row)
		}
		seen.check(t, "p before", row, m.AnyFails(0, got-1).Float64(), row.PBefore, tolerance)
		seen.check(t, "p at", row, m.AnyFails(0, got).Float64(), row.PAt, tolerance)
	}
	seen.log(t)
}

func TestReferenceRoom(t *testing.T) {
	seen := errors{}
	for _, row := range loadReference(t).Room {
		m := row.model(t)
		got, err := m.Room(row.K, row.P.float64(t))
		if err != nil || !isCount(t, got, row.Value) {
			t.Errorf("Room = %d, %v, want %v: %+v", got, err, row.Value, row)
		}
		seen.check(t, "p at", row, m.AnyFails(row.K, got).Float64(), row.PAt, tolerance)
		seen.check(t, "p next", row, m.AnyFails(row.K, got+1).Float64(), row.PNext, tolerance)
	}
	seen.log(t)
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

func TestReferenceReuse(t *testing.T) {
	seen := errors{}
	for _, row := range loadReference(t).Reuse {
		m := row.model(t)
		got := m.ExpectedReuses(row.K, row.M)
		if row.Quantity == "reuse_any" {
			got = m.AnyReuse(row.K, row.M).Float64()
		}
		seen.check(t, row.Quantity, row, got, row.Value, tolerance)
	}
	seen.log(t)
}

func TestReferenceEquivalentSuffixLength(t *testing.T) {
	seen := errors{}
	for _, row := range loadReference(t).Equivalent {
		seen.check(t, "equivalent", row, row.model(t).EquivalentSuffixLength(row.K, row.M), row.Value, tolerance)
	}
	seen.log(t)
}

func TestReferenceGarwood(t *testing.T) {
	seen := errors{}
	for _, row := range loadReference(t).Garwood {
		lower, upper, err := Garwood(row.N, row.Conf.float64(t))
		if err != nil {
			t.Fatal(err)
		}
		seen.check(t, "garwood lower", row, lower, row.Lower, tolerance)
		seen.check(t, "garwood upper", row, upper, row.Upper, tolerance)
	}
	seen.log(t)
}
