package analyze

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

func percent(p float64) string {
	if p < 1e-6 {
		exponent := math.Ceil(math.Log10(p))
		return fmt.Sprintf("1 in %.2fe%.0f", math.Pow(10, exponent)/p, -exponent)
	}
	digits := max(2, 1-int(math.Floor(math.Log10(p*100))))
	return strconv.FormatFloat(p*100, 'f', digits, 64) + "%"
}

// thousands is humanize.Grouped, which imports a package of Kubernetes.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// The exact numbers of docs/internals/kep-4420.md are those of this package. The README of the KEP has the numbers of
// the approximation.
func TestKEPDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/kep-4420.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(format string, args ...any) {
		t.Helper()
		if text := fmt.Sprintf(format, args...); !strings.Contains(string(page), text) {
			t.Errorf("the page doesn't have %q", text)
		}
	}
	model := func(length, attempts int) Model {
		names, err := NamePoolSize(length)
		if err != nil {
			t.Fatal(err)
		}
		return newModel(t, names, attempts)
	}
	reached := func(length, attempts int, p float64) string {
		return thousands(threshold(t, model(length, attempts), p))
	}
	chance := func(length, attempts int, creates int64) string {
		return percent(model(length, attempts).AnyFails(0, creates).Float64())
	}
	attempts := func(existing float64) float64 {
		taken := existing / float64(model(5, 1).Names())
		return (1 - math.Pow(taken, 8)) / (1 - taken)
	}
	const million = 1_000_000
	has("| 50%% by %s; %s at 5,000 |", reached(5, 1, 0.5), chance(5, 1, 5000))
	has("| 0.1%% by %s; %s at 500 |", reached(5, 1, 0.001), chance(5, 1, 500))
	has("| 8 attempts: 0.1%% by %s; %s at a million |", reached(5, 8, 0.001), chance(5, 8, million))
	has("| 7 attempts: 0.1%% by %s; %.4f%% at a million |", reached(5, 7, 0.001), 100*model(5, 7).AnyFails(0, million).Float64())
	has("| 8 attempts: %s; 7 attempts: %s |", chance(5, 8, 100_000), chance(5, 7, 100_000))
	has("| at a million: 8 attempts %s, 11 characters %s |", chance(5, 8, million), chance(11, 1, million))
	has("| 10 characters: %s; 11: %s |", reached(10, 1, 0.001), reached(11, 1, 0.001))
	has("retried with %s at 100,000, %s at a million |", percent(model(5, 1).NextFails(100_000)), percent(model(5, 1).NextFails(million)))
	has("| %.3f attempts per create at a million names, %.2f at 5 million,", attempts(million), attempts(5*million))
	for length := 5; length <= 11; length++ {
		names := model(length, 1).Names()
		approximation := func(p float64) string {
			return thousands(int64(math.Round(math.Sqrt(2 * float64(names) * math.Log(1/(1-p))))))
		}
		has("\n| %d | %s | %s | %s | ", length, thousands(names), reached(length, 1, 0.5), approximation(0.5))
		has(" | %s | %s | ", reached(length, 1, 0.001), approximation(0.001))
	}
	for _, creates := range []int64{10_000, 100_000, million, 1_362_495, 2_000_000, 3_000_000} {
		has("\n| %s | %s | %s |", thousands(creates), chance(5, 8, creates), chance(11, 1, creates))
	}
}
