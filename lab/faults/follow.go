package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

const (
	// changesPerSecond is the number of creates and deletes per second during a watch.
	changesPerSecond = 60
	// shownFrom is the number of names from which an audit shows a prefix.
	shownFrom = 10
)

// Followed is the result of an audit --watch while objects are created and deleted.
type Followed struct {
	Creates, Deletes, SeenCreates, SeenDeletes int64 // of prefixes that existed before
	Prefixes                                   int   // shown in the end, with the right names
	Exact, Lower                               int   // of Prefixes: with exact counts, or with lower bounds
	Gaps, Failures                             int
	Watched                                    string // the last line of the watch
	Took                                       time.Duration
}

// Follow runs audit --watch while objects are created and deleted, for s.Follows or longer on a slow machine. In this
// time s.ServerKills failures of the control plane happen. Follow fails unless the names are in the end those of a new
// audit. Creates and deletes must be exact, or lower bounds if the watch reported a gap.
func Follow(ctx context.Context, cp *controlplane.ControlPlane, s Settings, arguments ...string) (*Followed, error) {
	c, err := newChurn(ctx, cp, s.Seed)
	if err != nil {
		return nil, err
	}
	proxy, err := faultproxy.StartBalancer(s.Protocol, cp.Admin(), addresses(cp),
		func(*http.Request) faultproxy.Fault { return nil })
	if err != nil {
		return nil, err
	}
	defer proxy.Close()
	kubeconfig := filepath.Join(cp.Dir, "follow.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, proxy.Config); err != nil {
		return nil, err
	}
	arguments = append(arguments, "-A", "--kubeconfig="+kubeconfig, "--cache-dir="+filepath.Join(cp.Dir, "follow"))
	w, err := StartWatch(ctx, s.Plugin, arguments...)
	if err != nil {
		return nil, err
	}
	defer w.kill()
	if err := w.Until(ctx, func(*v1alpha1.AuditReport) error { return nil }); err != nil {
		return nil, err
	}
	began := time.Now()
	failing := failEvenly(ctx, cp, s)
	if err := errors.Join(c.run(ctx, int(s.Follows.Seconds()*changesPerSecond), changesPerSecond), <-failing); err != nil {
		return nil, err
	}
	f := &Followed{Failures: s.ServerKills, Took: time.Since(began)}
	if err := w.UntilFresh(ctx); err != nil {
		return nil, err
	}
	last, err := w.End()
	if err != nil {
		return nil, err
	}
	return f, f.checkReport(last, w.stderr.String(), c.counts)
}

// failEvenly starts failures of the control plane at even distances. failEvenly sends the result at the end.
func failEvenly(ctx context.Context, cp *controlplane.ControlPlane, s Settings) <-chan error {
	over := make(chan error, 1)
	began := time.Now()
	failures := failuresOf(cp)
	if len(cp.Members) == 1 {
		failures = append(failures, etcdKilled)
	}
	fail := func(i int) error {
		f := failures[i%len(failures)]
		select {
		case <-time.After(time.Until(began.Add(s.Follows * time.Duration(i+1) / time.Duration(s.ServerKills+1)))):
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Fprintln(s.Log, f.name)
		end, err := f.begin(ctx, cp)
		if err != nil {
			return err
		}
		time.Sleep(f.lasts)
		return end()
	}
	go func() {
		for i := range s.ServerKills {
			if err := fail(i); err != nil {
				over <- err
				return
			}
		}
		over <- nil
	}()
	return over
}

// lostEvents is the part of the warning about a gap that is equal for all types.
var lostEvents = strings.Split("Warning: %s was counted again, because the watch lost events from %s to %s (%v). The names are correct, but creates and deletes are lower bounds", "%s")[1]

// checkReport compares the last report with the objects that were created and deleted.
func (f *Followed) checkReport(last *v1alpha1.AuditReport, stderr string, counts map[pool]*population) error {
	f.Gaps = strings.Count(stderr, lostEvents)
	for line := range strings.Lines(stderr) { // a binary built for coverage prints more lines at the end
		if strings.HasPrefix(line, "Watched ") {
			f.Watched = strings.TrimSpace(line)
		}
	}
	if want := fmt.Sprintf(", %d gap", f.Gaps); !strings.Contains(f.Watched, want) {
		return fmt.Errorf("%d gaps were reported, and in the end %q", f.Gaps, f.Watched)
	}
	shown := map[pool]v1alpha1.AuditItem{}
	for _, i := range last.Items {
		shown[pool{i.Group, i.Resource, i.Namespace, i.Prefix}] = i
	}
	var wrong error
	for _, s := range slices.SortedFunc(maps.Keys(counts), pool.compare) {
		wrong = errors.Join(wrong, f.checkRow(s, shown[s], *counts[s]))
	}
	return wrong
}

// checkRow compares one row with the objects that were created and deleted.
func (f *Followed) checkRow(s pool, item v1alpha1.AuditItem, p population) error {
	m := item.Measured
	switch {
	case p.names() < shownFrom:
		return nil
	case p.names() != item.Names:
		return fmt.Errorf("%v: %d names, there are %d", s, item.Names, p.names())
	case m == nil:
		return fmt.Errorf("%v is not followed", s)
	case m.Creates > p.creates || m.Deletes > p.deletes:
		return fmt.Errorf("%v: %d creates and %d deletes, there were %+v", s, m.Creates, m.Deletes, p)
	}
	f.Prefixes++
	if s.prefix == lateComer {
		return nil
	}
	f.Creates, f.Deletes = f.Creates+p.creates, f.Deletes+p.deletes
	f.SeenCreates, f.SeenDeletes = f.SeenCreates+m.Creates, f.SeenDeletes+m.Deletes
	switch exact := m.Creates == p.creates && m.Deletes == p.deletes; {
	case !exact && m.Gaps == 0 || p.before+m.Creates-m.Deletes != item.Names:
		return fmt.Errorf("%v: %d creates and %d deletes with %d gaps, there were %+v", s, m.Creates, m.Deletes, m.Gaps, p)
	case m.Gaps == 0:
		f.Exact++
	default:
		f.Lower++
	}
	return nil
}

func (s pool) compare(o pool) int {
	return cmp.Or(cmp.Compare(s.resource, o.resource), cmp.Compare(s.namespace, o.namespace), cmp.Compare(s.prefix, o.prefix))
}

func (f *Followed) String() string {
	text, _ := json.Marshal(f) // numbers and text
	return string(text)
}

// Section returns the result as the text of a section of docs/internals/watch-engine.md.
func (f *Followed) Section(s Settings) string {
	return fmt.Sprintf("Measured on %s with seed %d, with %d cores and %s. For %s, the test requested %d changes per second. %s\n\n",
		time.Now().UTC().Format(time.DateOnly), s.Seed, runtime.NumCPU(), runtime.Version(), s.Follows, changesPerSecond, s.servers()) +
		"| creates: requested, counted | deletes: requested, counted | prefixes with the right number of names " +
		"| prefixes with exact creates and deletes | prefixes with lower bounds | gaps |\n" +
		"|--:|--:|--:|--:|--:|--:|\n" +
		fmt.Sprintf("| %d, %d | %d, %d | %d of %d | %d | %d | %d |\n\n%s.\n",
			f.Creates, f.SeenCreates, f.Deletes, f.SeenDeletes, f.Prefixes, f.Prefixes, f.Exact, f.Lower, f.Gaps, f.Watched)
}
