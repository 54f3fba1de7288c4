package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// mostPainted is the largest number of rows of a painted report without --top. A cluster can have a hundred
// thousand prefixes, and their rows would take a hundred times the memory of the counts.
const mostPainted = 1000

// watchRun is an audit with --watch.
type watchRun struct {
	run     *run
	types   *cluster.Types
	engine  *live.Engine
	odds    *audit.Odds
	printer watchPrinter
}

// newWatchRun returns a watch that has not started.
func newWatchRun(r *run) *watchRun {
	types := r.session.Cluster.Types(r.types, r.skipped, r.config.TypesNamed, r.config.Namespace)
	return &watchRun{run: r, types: types}
}

// start counts, watches, prints changes, and evaluates the gates at the end.
func (w *watchRun) start(ctx context.Context) error {
	c := w.run.session
	defer debug.SetGCPercent(debug.SetGCPercent(pools.GarbagePercent))
	c.Cluster.Retries()                                           // otherwise the engine would wait for the attempts
	c.Cluster.Config = connection.Uninterrupted(c.Cluster.Config) // the counts are verified after an interrupt
	w.odds = audit.NewOdds(c.Cluster.RetriesOf)
	w.engine = w.newEngine()
	notices := make(chan string, 100)
	w.reportTo(func(text string) {
		select {
		case notices <- text:
		default: // too many for a reader; the report has their number
		}
	})
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // the engine runs until it has verified its counts
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(running) }()
	go c.Cluster.RefreshRetries(running)
	early := context.AfterFunc(ctx, stop)
	counted, err := w.counts(ended, notices)
	if counted && early() {
		c.Stderr.End()
		err = w.follow(ctx, notices)
		w.verify(ctx)
	}
	stop()
	if counted {
		err = errors.Join(err, <-ended)
	}
	c.Stderr.End()
	w.printLeft(notices)
	if err != nil {
		return err
	}
	return w.finish(ctx)
}

// verifiedWithin is the time limit for the verification after an interrupt.
const verifiedWithin = 4 * time.Second

// verify compares the counts with the server at the end. After an interrupt, verify has little time.
func (w *watchRun) verify(ctx context.Context) {
	verifying, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.run.session.ServerWait.For)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(verifiedWithin, cancel) })()
	w.engine.Verify(verifying)
}

// counts prints the notices until everything is counted. counted is false if the engine ended before that.
func (w *watchRun) counts(ended <-chan error, notices <-chan string) (counted bool, err error) {
	for {
		select {
		case text := <-notices:
			w.run.session.Stderr.Line(text)
		case err := <-ended:
			return false, err
		case <-w.engine.Counted():
			return true, nil
		}
	}
}

// printLeft prints the notices that were not shown before the end.
func (w *watchRun) printLeft(notices <-chan string) {
	for {
		select {
		case text := <-notices:
			w.run.session.Stderr.Line(text)
		default:
			return
		}
	}
}

// newEngine returns an engine that is configured by the flags.
func (w *watchRun) newEngine() *live.Engine {
	r := w.run
	engine := live.New(*r.scanner())
	engine.Scanner.Progress(census.Progress{Types: len(r.types)})
	engine.Types, engine.Namespace, engine.ClockSkew = r.types, r.config.Namespace, r.clockSkew
	engine.MinCount, engine.Interval, engine.Takes = r.config.CountsFrom(), r.interval, r.config.Takes
	engine.Gated = r.config.Gated()
	engine.Named, engine.WatchAll, engine.Discover = r.config.TypesNamed, r.config.TypesNamed, w.types.Discover
	return engine
}

// reportTo makes the engine print important events at once.
func (w *watchRun) reportTo(line func(text string)) {
	wait := cluster.ServerWait{For: w.run.session.ServerWait.For, Print: line}
	w.engine.Scanner.Unreachable, w.engine.Scanner.Resting = wait.Report, reportRest(line)
	w.engine.Notify = func(n live.Notice) { line(scan.NoticeText(n)) }
}

// follow prints changes until the user quits, or the time is up.
func (w *watchRun) follow(ctx context.Context, notices <-chan string) error {
	printer, screen, err := w.run.newWatchPrinter()
	if err != nil {
		return err
	}
	w.printer = printer
	var resized <-chan os.Signal
	var quit <-chan struct{}
	if screen != nil {
		defer screen.end()
		resized, quit = screen.screen.Resized(), screen.screen.Quit()
	}
	w.bound(screen)
	var up <-chan time.Time
	if w.run.duration > 0 {
		timer := time.NewTimer(w.run.duration)
		defer timer.Stop()
		up = timer.C
	}
	ticker := time.NewTicker(w.run.interval)
	defer ticker.Stop()
	for first := true; ; first = false {
		result, err := w.show()
		if err != nil {
			return err
		}
		if first {
			w.hint(ctx, result)
		}
	wait:
		for {
			select {
			case text := <-notices:
				w.printer.notice(text)
			case <-ticker.C:
				break wait
			case <-resized:
				break wait
			case <-quit:
				return nil
			case <-up:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// bound limits the rows of a screen, unless the user set --top.
func (w *watchRun) bound(screen *screenPrinter) {
	if screen != nil && w.run.layout.limited {
		w.run.config.Top = mostPainted
	}
}

// show prints the current counts.
func (w *watchRun) show() (*audit.Result, error) {
	snapshot, result, err := w.report()
	if err != nil {
		return nil, err
	}
	return result, w.printer.show(result.Report, snapshot)
}

// hint prints that the namespace has no prefix yet, or doesn't exist, or that no name has a prefix that the user
// named.
func (w *watchRun) hint(ctx context.Context, result *audit.Result) {
	namespace := w.run.onlyNamespace()
	if result.Report.Summary.Prefixes > 0 || namespace == "" && len(result.NotFound) == 0 {
		return
	}
	for _, line := range slices.Concat(w.run.noNamespace(ctx, result.Report), w.run.emptyLines(result),
		notFoundLines("So far, no name", result, namespace)) {
		w.printer.hint(line)
	}
}

// report returns the current counts, as an audit reports them.
func (w *watchRun) report() (snapshot live.Snapshot, result *audit.Result, err error) {
	config := w.run.config
	config.AsOf, config.Watched = w.engine.Now(), true
	counted := &audit.Counted{Server: w.run.server(), Skipped: w.types.Skipped()}
	result, err = audit.Build(w.rows(&snapshot, counted), counted, config, w.odds)
	return snapshot, result, err
}

// rows returns the rows of a snapshot. After all rows, it sets the snapshot and the counts.
func (w *watchRun) rows(snapshot *live.Snapshot, counted *audit.Counted) func(each func(pools.Row)) {
	return func(each func(pools.Row)) {
		*snapshot = w.engine.Snapshot(each)
		counted.Ended, counted.Types, counted.Summary = snapshot.At, snapshot.Types, snapshot.Summary
		counted.Others = snapshot.Others
	}
}

// finish shows the last report, and evaluates the gates. An interrupt after the first count
// is no failure.
func (w *watchRun) finish(ctx context.Context) error {
	snapshot, result, err := w.report()
	if err != nil {
		return err
	}
	if w.printer == nil {
		return w.run.evaluate(ctx, result) // interrupted before all was counted
	}
	return w.run.session.Show(result.Report, w.view(ctx, snapshot, result))
}

// view returns the last report as people read it.
func (w *watchRun) view(ctx context.Context, snapshot live.Snapshot, result *audit.Result) scan.View {
	r := w.run
	v, below := w.printer.last(result.Report)
	v.Verdict = verdictLines(result.Report)
	v.Coverage, v.Command = result.Coverage, "audit"
	v.Warnings = r.warnings(result)
	if r := result.Report; len(r.Items)+len(r.Folded)+len(result.NotFound) == 0 {
		v.Next = []string{nothingToShow}
	}
	v.Next = append(v.Next, r.unshownLines(result, below)...)
	if r.session.Prints.ForMachines() {
		v.Warnings = append(v.Warnings, watchedText(snapshot)) // this line shows whether there were gaps
	}
	v.Next = append(v.Next, watchedText(snapshot))
	v.Gate = r.evaluate(context.WithoutCancel(ctx), result)
	return v
}

// watchedText returns the number of types and events, and the share of updates. A watch always delivers
// updates, which change no count.
func watchedText(s live.Snapshot) string {
	types, gaps := humanize.Count(s.Watched, "type"), humanize.Count(s.Gaps, "gap")
	events := humanize.Count(s.Events, "event")
	if s.Events == 0 {
		return fmt.Sprintf("Watched %s: %s, %s", types, events, gaps)
	}
	return fmt.Sprintf("Watched %s: %s (%.0f%% of them updates), %s",
		types, events, 100*float64(s.Idle)/float64(s.Events), gaps)
}
