package prune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
)

// target is an argument TYPE/PREFIX, or TYPE with --orphaned.
type target struct{ resource, prefix string }

func (t target) String() string { return strings.TrimSuffix(t.resource+"/"+t.prefix, "/") }

// patternCharacters are characters of patterns that no name has.
const patternCharacters = "*?{}()^|"

// parseTargets reads the arguments. Each must name a whole prefix, because a command that deletes
// must not guess.
func parseTargets(args []string, orphaned bool) (targets []target, err error) {
	for _, arg := range args {
		resource, prefix, ok := strings.Cut(arg, "/")
		switch {
		case orphaned && ok:
			return nil, fmt.Errorf("--orphaned takes no prefix, so write %s instead of %q", resource, arg)
		case orphaned:
		case ok && prefix == "":
			return nil, fmt.Errorf("%q has no prefix. Name a whole generateName, like jobs/nightly-report-", arg)
		case !ok, resource == "", strings.ContainsAny(resource, ", "), strings.Contains(prefix, "/"):
			return nil, fmt.Errorf("%q is not TYPE/PREFIX, like jobs/nightly-report-", arg)
		case strings.ContainsAny(prefix, patternCharacters):
			return nil, fmt.Errorf("%q is a pattern. Name a whole generateName, like jobs/nightly-report-", arg)
		}
		if t := (target{resource, prefix}); !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 && orphaned {
		return nil, errors.New("name the type pods with --orphaned")
	}
	if len(targets) == 0 {
		return nil, errors.New("name what to delete as TYPE/PREFIX, like jobs/nightly-report-")
	}
	return targets, nil
}

// age is the value of --older-than or --finished-for, a duration or a time.
type age struct {
	flag string // its name
	text string
	ago  time.Duration
	at   time.Time
}

// parseAge reads the value of a flag.
func parseAge(flag, text string) (age, error) {
	a := age{flag: flag, text: text}
	if text == "" {
		return a, nil
	}
	var ago flagvalue.Duration
	if err := ago.Set(text); err == nil {
		if a.ago = time.Duration(ago); a.ago < 0 {
			return a, fmt.Errorf("--%s must be 0 or more, not %s", flag, text)
		}
		return a, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.IsZero() { // programs print the zero time for an unset time
		return a, fmt.Errorf(
			"--%s: %q is neither a duration like 24h or 30d nor a time like 2026-11-21T08:00:00Z", flag, text)
	}
	a.at = at.UTC()
	return a, nil
}

func (a age) given() bool { return a.text != "" }

// needsTime reports whether the age is a duration, which counts back from the server's time.
func (a age) needsTime() bool { return a.given() && a.at.IsZero() }

// isAll reports whether the age is 0s.
func (a age) isAll() bool { return a.needsTime() && a.ago == 0 }

// before is the time before which objects were created or finished. The time is zero without the flag, and for 0s,
// which chooses all objects, also those whose timestamps are ahead.
func (a age) before(now time.Time) time.Time {
	switch {
	case !a.given(), a.isAll():
		return time.Time{}
	case a.needsTime():
		return now.Add(-a.ago).Truncate(time.Second)
	}
	return a.at
}

// check returns an error if the age is a time in the future. A plan prints the time a second after its newest object,
// whose timestamp can be ahead of now.
func (a age) check(now, newest time.Time) error {
	if a.at.Unix() > max(now.Unix(), newest.Unix())+1 {
		return fmt.Errorf("--%s: %s is in the future. The server's time is %s",
			a.flag, a.at.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return nil
}

// limit is a number of objects to keep, or unset.
type limit struct {
	given bool
	count int
}

// Set implements pflag.Value.
func (l *limit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("must be a whole number, 0 or more")
	}
	*l = limit{given: true, count: n}
	return nil
}

func (l *limit) String() string {
	if !l.given {
		return ""
	}
	return strconv.Itoa(l.count)
}

// Type implements pflag.Value.
func (l *limit) Type() string { return "number" }

// value returns nil if the limit is unset.
func (l *limit) value() *int {
	if !l.given {
		return nil
	}
	return &l.count
}

// share is a number of objects, or a percentage of them.
type share struct {
	text    string // empty for no limit
	count   int64
	percent float64 // NaN for a number
}

// Set implements pflag.Value.
func (s *share) Set(text string) (err error) {
	s.text, s.percent = text, math.NaN()
	if number, is := strings.CutSuffix(text, "%"); is {
		s.percent, err = strconv.ParseFloat(number, 64)
	} else {
		s.count, err = strconv.ParseInt(text, 10, 64)
	}
	isNumber := math.IsNaN(s.percent) && !strings.HasSuffix(text, "%")
	if err != nil || s.count < 0 || !isNumber && !(s.percent >= 0 && s.percent <= 100) {
		return errors.New("must be a number of objects, or a percentage like 10%")
	}
	return nil
}

func (s *share) String() string { return s.text }

// Type implements pflag.Value.
func (s *share) Type() string { return "number" }

func (s *share) exceeded(chosen, all int64) bool {
	if s.text == "" || math.IsNaN(s.percent) {
		return s.text != "" && chosen > s.count
	}
	return float64(chosen)*100 > s.percent*float64(all)
}

// notRepeated are the flags that a suggested command doesn't repeat: flags that it has in another form, and flags of
// the plan.
var notRepeated = []string{
	"all-namespaces", "older-than", "finished-for", "max-delete", "yes", "dry-run", "output", "no-headers",
}

func repeated(cmd *cobra.Command) []string {
	return flagvalue.Words(cmd.LocalFlags(), func(name string) bool { return !slices.Contains(notRepeated, name) })
}

// emptyFlag returns an error for a flag that chooses objects or the cluster, and is empty. A script whose variable is
// not set would delete other objects.
func emptyFlag(cmd *cobra.Command) error {
	for _, name := range []string{
		"older-than", "finished-for", "save", "selector", "namespace", "context", "cluster", "kubeconfig", "server",
	} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s is empty. A variable is probably not set", name)
		}
	}
	return nil
}
