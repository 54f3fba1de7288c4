package prune

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune/messages"
)

// target is an argument TYPE/PREFIX.
type target struct{ resource, prefix string }

// String returns the argument.
func (t target) String() string { return t.resource + "/" + t.prefix }

// patternCharacters are characters of patterns. No name of an object has one.
const patternCharacters = "*?[]{}()^$|\\"

// parseTargets reads the arguments. Each must name a whole prefix, because a command that deletes
// must not guess.
func parseTargets(args []string) (targets []target, err error) {
	for _, arg := range args {
		resource, prefix, ok := strings.Cut(arg, "/")
		switch {
		case ok && prefix == "":
			return nil, fmt.Errorf(messages.EmptyPrefix, arg)
		case !ok, resource == "", strings.ContainsAny(resource, ", "), strings.Contains(prefix, "/"):
			return nil, fmt.Errorf(messages.NotTarget, arg)
		case strings.ContainsAny(prefix, patternCharacters):
			return nil, fmt.Errorf(messages.Pattern, arg)
		}
		if t := (target{resource, prefix}); !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, errors.New(messages.NoTarget)
	}
	return targets, nil
}

// age is the value of --older-than, a duration or a time.
type age struct {
	text string
	ago  time.Duration
	at   time.Time
}

// parseAge reads --older-than.
func parseAge(text string) (age, error) {
	a := age{text: text}
	if text == "" {
		return a, nil
	}
	var ago flagvalue.Duration
	if err := ago.Set(text); err == nil {
		if a.ago = time.Duration(ago); a.ago < 0 {
			return a, fmt.Errorf(messages.NegativeAge, text)
		}
		return a, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return a, fmt.Errorf(messages.BadAge, text)
	}
	a.at = at.UTC()
	return a, nil
}

func (a age) given() bool { return a.text != "" }

// needsTime reports whether it counts back from the server's time.
func (a age) needsTime() bool { return a.given() && a.at.IsZero() }

// before is the time before which objects were created. It is zero without --older-than.
// Creation times are whole seconds, so 0s includes the second of now: it chooses all objects
// that exist.
func (a age) before(now time.Time) (time.Time, error) {
	nextSecond := now.Truncate(time.Second).Add(time.Second)
	switch {
	case !a.given():
		return time.Time{}, nil
	case a.needsTime() && a.ago == 0:
		return nextSecond, nil
	case a.needsTime():
		return now.Add(-a.ago).Truncate(time.Second), nil
	case a.at.After(nextSecond):
		return time.Time{}, fmt.Errorf(messages.FutureAge, a.at.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return a.at, nil
}

// whichCluster are the flags by which a suggested command reaches the same cluster as
// the same user. None has a secret.
var whichCluster = []string{"kubeconfig", "context", "cluster", "server", "user", "as", "as-group", "as-uid"}

// connectionFlags returns those of these flags that were given, as they are written.
func connectionFlags(cmd *cobra.Command) (words []string) {
	for _, name := range whichCluster {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if several, is := flag.Value.(pflag.SliceValue); is {
			values = several.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+name, value)
		}
	}
	return words
}
