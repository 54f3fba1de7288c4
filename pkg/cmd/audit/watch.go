package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// reuseOf is of how many of the riskiest prefixes the re-use of names is counted.
const reuseOf = 20

// mostPainted is how many rows a screen is painted of, unless --top says so: there may be
// a hundred thousand, of which nobody sees more than a screenful, and which take a hundred
// times the memory of what is counted.
const mostPainted = 1000

// garbagePercent is how much garbage there may be, of what is in use.
const garbagePercent = 25

// watching are the flags of an audit that goes on.
type watching struct {
	watch    bool
	duration flagvalue.Duration
	interval flagvalue.Duration
}

func (w *watching) addFlags(flags *pflag.FlagSet) {
	w.interval = flagvalue.Duration(5 * time.Second)
	flags.BoolVarP(&w.watch, "watch", "w", false, "After counting, watch the objects and update counts and rates "+
		"until you press q, interrupt, or --duration ends. The gates are evaluated at the end")
	flags.Var(&w.duration, "duration", "How long to --watch after the first count, like 90s or 1h. 0 has no end")
	flags.Var(&w.interval, "interval", "How often --watch prints changes")
}

// validateWatching returns what is wrong with these flags.
func (o *options) validateWatching() error {
	switch w := o.watching; {
	case !w.watch && (o.given("duration") || o.given("interval")):
		return errors.New(messages.WatchFlagsAlone)
	case w.duration < 0:
		return fmt.Errorf(messages.NegativeDuration, "--duration", w.duration.String())
	case w.interval <= 0:
		return fmt.Errorf(messages.BadInterval, w.interval.String())
	case w.watch && o.openMetrics:
		return errors.New(messages.OpenMetricsWatch)
	case w.watch && o.manners.estimate:
		return errors.New(messages.EstimateWatch)
	}
	return nil
}

// watched is an audit that goes on.
type watched struct {
	*options
	cluster *cluster.Cluster
	uid     string        // of the cluster
	ahead   time.Duration // how far the server's clock is ahead of that of this computer
	engine  *live.Engine
	about   audit.Options
	shows   showing

	mu      sync.Mutex
	skipped []census.Skipped // what discovery left out when it was last asked; guarded by mu
}

// leave notes what discovery leaves out now.
func (w *watched) leave(skipped []census.Skipped) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skipped = skipped
}

func (w *watched) left() []census.Skipped {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.skipped
}

// run counts, follows what changes, shows it, and judges the gates at the end.
func (w *watched) run(ctx context.Context, resources []census.Resource, progress *terminal.Progress) error {
	c := w.cluster
	collector, err := audit.NewCollector(w.about, c.RetriesOf)
	if err != nil {
		return fmt.Errorf(messages.NotComparable, w.compare, err)
	}
	// What is counted stays, and little garbage is made: looking for it four times as often
	// as usual costs little, and there is a quarter as much.
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	c.Retries()                                   // the engine asks for them while all else waits
	c.Config = connection.Uninterrupted(c.Config) // the counts are verified after an interrupt
	w.engine = w.newEngine(collector, resources, progress)
	notices := make(chan string, 100)
	w.tellOf(func(text string) {
		select {
		case notices <- text:
		default: // nobody reads so many; the report has their number
		}
	})
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // it goes on until it is verified
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(running) }()
	early := context.AfterFunc(ctx, stop)
	counted, err := w.counts(ended, notices, progress)
	if counted && early() {
		progress.End()
		err = w.follow(ctx, notices)
		w.verify(ctx)
	}
	stop()
	if counted {
		err = errors.Join(err, <-ended)
	}
	progress.End()
	w.sayLeft(notices)
	if err != nil {
		return err
	}
	return w.finish(ctx)
}

// verifiedWithin is how long the counts are verified after an interrupt.
const verifiedWithin = 4 * time.Second

// verify compares the counts with the server at the end. An interrupt leaves it little
// time.
func (w *watched) verify(ctx context.Context) {
	verifying, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(w.manners.retryTimeout))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(verifiedWithin, cancel) })()
	w.engine.Verify(verifying)
}

// counts says the notices that come until all is counted, and reports whether it is: the
// engine may have ended before.
func (w *watched) counts(
	ended <-chan error, notices <-chan string, progress *terminal.Progress,
) (counted bool, err error) {
	for {
		select {
		case text := <-notices:
			progress.Line(terminal.OneLine(text))
		case err := <-ended:
			return false, err
		case <-w.engine.Counted():
			return true, nil
		}
	}
}

// sayLeft says the notices that were not shown before the end.
func (w *watched) sayLeft(notices <-chan string) {
	for {
		select {
		case text := <-notices:
			w.say(text)
		default:
			return
		}
	}
}

// newEngine returns the engine that the flags ask for.
func (w *watched) newEngine(
	collector *audit.Collector, resources []census.Resource, progress *terminal.Progress,
) *live.Engine {
	engine := live.New(*w.scanner(w.cluster, w.about))
	engine.Scanner.Progress = cluster.ShowScan(progress)
	engine.Scanner.Progress(census.Progress{Types: len(resources)})
	engine.Recent, engine.Types, engine.Namespace = w.about.Windows, resources, w.namespace
	engine.Ahead = w.ahead
	engine.MinCount, engine.Interval = w.about.CountsFrom(), time.Duration(w.watching.interval)
	engine.Chance = collector.NextFails
	engine.Takes = w.about.Takes
	engine.Named, engine.Discover = w.named, w.discovery(resources, w.find)
	if w.named {
		engine.Discover = w.discovery(resources, w.findNamed(resources))
	}
	return engine
}

// tellOf makes the engine tell what a user should know at once.
func (w *watched) tellOf(tell func(text string)) {
	patience := cluster.Patience{For: time.Duration(w.manners.retryTimeout), Say: tell}
	w.engine.Scanner.Absent, w.engine.Scanner.Resting = patience.Tell, tellRest(tell)
	w.engine.Tell = func(n live.Notice) { tell(noticeText(n)) }
}

// find finds the types that there are now, and says what it leaves out.
func (w *watched) find(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
	w.cluster.AskAgain(ctx)
	return w.cluster.Resources(nil, w.namespace)
}

// findNamed returns a function that finds the versions in which the named types are served
// now. It leaves nothing out: the engine finds out that a type is gone.
func (w *watched) findNamed(named []census.Resource) findFunc {
	return func(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
		all, _, err := w.find(ctx)
		found := slices.DeleteFunc(all, func(r census.Resource) bool {
			is := func(other census.Resource) bool { return other.GroupResource() == r.GroupResource() }
			return !slices.ContainsFunc(named, is)
		})
		return found, w.left(), err
	}
}

// findFunc finds types, and returns what it leaves out.
type findFunc func(context.Context) ([]census.Resource, []census.Skipped, error)

// discovery returns a function that finds the types that there are now, by one that
// may not end with its context. Those that were known before stay if their group could
// not be discovered: they may still be there.
func (w *watched) discovery(
	known []census.Resource, find findFunc,
) func(context.Context) ([]census.Resource, error) {
	type result struct {
		found   []census.Resource
		skipped []census.Skipped
		err     error
	}
	return func(ctx context.Context) ([]census.Resource, error) {
		results := make(chan result, 1)
		go func() {
			found, skipped, err := find(ctx)
			results <- result{found, skipped, err}
		}()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r := <-results:
			if r.err != nil {
				return nil, r.err
			}
			w.leave(r.skipped)
			known = withHidden(r.found, known, r.skipped)
			return known, nil
		}
	}
}

// withHidden returns the types that were found, and those known of groups that could
// not be discovered.
func withHidden(found, known []census.Resource, skipped []census.Skipped) []census.Resource {
	all := slices.Clone(found)
	for _, r := range known {
		hides := func(s census.Skipped) bool { return s.Resource == "" && s.Group == r.Group }
		is := func(other census.Resource) bool { return other.GroupResource() == r.GroupResource() }
		if slices.ContainsFunc(skipped, hides) && !slices.ContainsFunc(found, is) {
			all = append(all, r)
		}
	}
	return all
}

// follow shows what changes until the user wants no more, or the time is up.
func (w *watched) follow(ctx context.Context, notices <-chan string) (err error) {
	if w.shows, err = w.newShowing(); err != nil {
		return err
	}
	w.bound()
	defer func() { err = errors.Join(err, w.shows.end()) }()
	var up <-chan time.Time
	if w.watching.duration > 0 {
		timer := time.NewTimer(time.Duration(w.watching.duration))
		defer timer.Stop()
		up = timer.C
	}
	ticker := time.NewTicker(time.Duration(w.watching.interval))
	defer ticker.Stop()
	for {
		if err := w.show(); err != nil {
			return err
		}
	wait:
		for {
			select {
			case text := <-notices:
				w.shows.notice(text)
			case <-ticker.C:
				break wait
			case <-w.shows.resized():
				break wait
			case <-w.shows.quit():
				return nil
			case <-up:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// bound bounds the rows of a screen, unless the user has.
func (w *watched) bound() {
	if _, onScreen := w.shows.(*painting); onScreen && !w.given("top") {
		w.top, w.about.Top = mostPainted, mostPainted
	}
}

// show shows what is counted now.
func (w *watched) show() error {
	snapshot, result, err := w.report()
	if err != nil {
		return err
	}
	return w.shows.show(result.Report, snapshot)
}

// report returns what is counted, as an audit says it.
func (w *watched) report() (snapshot live.Snapshot, result *audit.Result, err error) {
	about := w.about
	about.AsOf = w.engine.Now()
	collector, err := audit.NewCollector(about, w.cluster.RetriesOf)
	if err != nil {
		return snapshot, nil, err
	}
	server := serverOf(w.cluster, w.uid)
	watched := collector.Watched(reuseOf)
	snapshot = w.engine.Snapshot(watched.Add)
	riskiest, err := watched.Riskiest()
	if err != nil {
		return snapshot, nil, err
	}
	w.engine.CountReuse(riskiest)
	result, err = watched.Report(snapshot, server, w.left())
	return snapshot, result, err
}

// finish prints the last report, and judges. That the user has ended the watch is no
// failure once all is counted.
func (w *watched) finish(ctx context.Context) error {
	snapshot, result, err := w.report()
	if err != nil {
		return err
	}
	if w.shows == nil {
		return w.evaluate(ctx, result) // interrupted before all was counted
	}
	w.sayRead(result.Report)
	if err := w.shows.last(result.Report, w.where(result.Report)); err != nil {
		return err
	}
	w.explain(result)
	w.say(watchedText(snapshot))
	return w.evaluate(context.WithoutCancel(ctx), result)
}

// watchedText returns what was watched, and how much of that was for nothing: a
// watch has no way to leave updates out.
func watchedText(s live.Snapshot) string {
	types, gaps := humanize.Count(s.Watched, "type"), humanize.Count(s.Gaps, "gap")
	events := humanize.Count(s.Events, "event")
	if s.Events == 0 {
		return fmt.Sprintf(messages.Watched, types, events, gaps)
	}
	return fmt.Sprintf(messages.WatchedIdle, types, events, 100*float64(s.Idle)/float64(s.Events), gaps)
}

// where returns in which namespace was counted, if in one, for the end of a sentence.
func (w *watched) where(*v1alpha1.AuditReport) string {
	if w.allNamespaces {
		return ""
	}
	return fmt.Sprintf(" in %s namespace", w.namespace)
}

// noticeText returns a notice for people.
func noticeText(n live.Notice) string {
	resource := n.Resource.String()
	switch n.What {
	case live.Gap:
		from, to := n.From.Format(time.TimeOnly), n.To.Format(time.TimeOnly)
		return terminal.Sprintf(messages.Gap, resource, from, to, n.Cause)
	case live.Unwatched:
		return terminal.Sprintf(messages.Unwatched, resource, n.Cause)
	case live.Watched:
		return terminal.Sprintf(messages.WatchedAgain, resource)
	case live.Appeared:
		return terminal.Sprintf(messages.Appeared, resource)
	case live.Vanished:
		return terminal.Sprintf(messages.Vanished, resource)
	case live.Undiscovered:
		return terminal.Sprintf(messages.Undiscovered, n.Cause)
	}
	return ""
}

// rowKey tells rows apart.
type rowKey struct {
	resource     schema.GroupResource
	namespace    string
	prefix       string
	suffixLength int
}

func keyOf(i v1alpha1.AuditItem) rowKey {
	return rowKey{schema.GroupResource{Group: i.Group, Resource: i.Resource}, i.Namespace, i.Prefix, i.SuffixLength}
}

// rowState is what makes a row worth showing again.
type rowState struct {
	names, creates, deletes int64
	notes                   string
}

func stateOf(i v1alpha1.AuditItem) rowState {
	state := rowState{names: i.Names, notes: strings.Join(i.Notes, "\n")}
	if m := i.Creates.Measured; m != nil {
		state.creates, state.deletes = m.Creates, m.Deletes
	}
	return state
}

// changes remembers what has been shown, and in which round it was there last.
type changes struct {
	rows  map[rowKey]shownRow
	round int
}

type shownRow struct {
	rowState
	round int
}

// take returns the indexes of the items that have changed since it was called last, and
// the items that are not there any more.
func (c *changes) take(items []v1alpha1.AuditItem) (changed []int, gone []rowKey) {
	if c.rows == nil {
		c.rows = map[rowKey]shownRow{}
	}
	c.round++
	for i := range items {
		key, row := keyOf(items[i]), shownRow{stateOf(items[i]), c.round}
		if before, known := c.rows[key]; !known || before.rowState != row.rowState {
			changed = append(changed, i)
		}
		c.rows[key] = row
	}
	for key, row := range c.rows {
		if row.round < c.round {
			delete(c.rows, key)
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b rowKey) int {
		return cmp.Or(
			cmp.Compare(a.resource.String(), b.resource.String()), cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.suffixLength, b.suffixLength))
	})
	return changed, gone
}
