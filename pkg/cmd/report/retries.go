package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
)

// retriesValue is a flag for numbers of retries: 0,1 or 0-8.
type retriesValue []int

// Set appends to the earlier values, as slice flags do.
func (r *retriesValue) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= flagvalue.MaxAttempts {
			return fmt.Errorf("%q is no list of retries below %d, like 0,1 or 0-8", text, flagvalue.MaxAttempts)
		}
		for retries := from; retries <= to; retries++ {
			*r = append(*r, retries)
		}
	}
	slices.Sort(*r)
	*r = slices.Compact(*r)
	return nil
}

func (r *retriesValue) String() string {
	var numbers []string
	for _, retries := range *r {
		numbers = append(numbers, strconv.Itoa(retries))
	}
	return strings.Join(numbers, ",")
}

// Type names the value in help.
func (r *retriesValue) Type() string { return "numbers" }
