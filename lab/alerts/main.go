// Command alerts runs the exporter for two hours beside a real kube-apiserver, etcd and Prometheus with the shipped
// alerts. Populations of ConfigMaps and disturbances make each alert fire whose window fits into this time. The
// command compares the alerts that fire with those that should, and with -write puts the result into a document.
//
//	go run ./lab/alerts -prometheus bin/prometheus -write lab/exporter/README.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

func main() {
	prometheus := flag.String("prometheus", "bin/prometheus", "the program of Prometheus")
	write := flag.String("write", "", "document to write the result into, between its markers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *prometheus, *write)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// disturbance happens at a time after the start of Prometheus.
type disturbance struct {
	at   time.Duration
	text string
	do   func(context.Context, *lab) error
}

func restartServer(ctx context.Context, l *lab) error {
	return errors.Join(l.Servers[0].Kill(), l.Servers[0].Start(ctx))
}

func restartExporter(_ context.Context, l *lab) error {
	return errors.Join(l.exporter.Kill(), l.startExporter())
}

var disturbances = []disturbance{
	{20 * time.Minute, "the API server is killed and starts again", restartServer},
	{30 * time.Minute, "the exporter is killed and starts again", restartExporter},
	{
		40 * time.Minute, "the exporter loses its permission for Jobs, and the API server starts again",
		func(ctx context.Context, l *lab) error {
			return errors.Join(l.permitJobs(ctx, false), restartServer(ctx, l))
		},
	},
	{
		62 * time.Minute, "the exporter gets its permission for Jobs",
		func(ctx context.Context, l *lab) error { return l.permitJobs(ctx, true) },
	},
	{72 * time.Minute, "the exporter is killed", func(_ context.Context, l *lab) error { return l.exporter.Kill() }},
	{80 * time.Minute, "the exporter starts", func(_ context.Context, l *lab) error { return l.startExporter() }},
	{85 * time.Minute, "the API server is killed", func(_ context.Context, l *lab) error { return l.Servers[0].Kill() }},
	{93 * time.Minute, "the exporter is killed and starts again, without an API server", restartExporter},
	{
		107 * time.Minute, "the API server starts",
		func(ctx context.Context, l *lab) error { return l.Servers[0].Start(ctx) },
	},
	{120 * time.Minute, "the end", func(context.Context, *lab) error { return nil }},
}

// expected has each time that an alert should fire, in minutes. Their rules are evaluated once a minute, after a scrape
// every 30 s. Alerts about prefixes end when the exporter has been down for 5 minutes, and fire again after their time.
// An alert without an end fires until the end.
var expected = []struct {
	alert, of          string
	earliest, latest   float64 // of the moment in which it fires
	endsFrom, endsTill float64
}{
	{"GeneratedNamesMany", "many-", 5, 8, 77, 80},
	{"GeneratedNamesMany", "many-", 85, 88, 98, 101},
	{"GeneratedNamesMany", "many-", 112, 115, 0, 0},
	{"GeneratedNameCreatesFail", "many-", 15, 18, 77, 80},
	{"GeneratedNameCreatesFail", "many-", 95, 98, 98, 101},
	{"GeneratedNameCreatesFail", "fails-", 15, 18, 77, 80},
	{"GeneratedNameCreatesFail", "fails-", 95, 98, 98, 101},
	{"GeneratedNamePrefixTruncated", truncated, 15, 18, 77, 80},
	{"GeneratedNamePrefixTruncated", truncated, 95, 98, 98, 101},
	{"GeneratedNamesGrowFast", "leak-", 30, 34, 77, 80},
	{"GeneratedNamesChurn", "churn-", 33, 41, 0, 0},
	{"GeneratedNameTypeSkipped", "jobs", 55, 59, 62, 72},
	{"GeneratedNamePrefixesDropped", "", 60, 63, 72, 75},
	{"GeneratedNameExporterMissing", "", 77, 80, 80, 83},
	{"GeneratedNameWatchBehind", "", 90, 93, 93, 96},
	{"GeneratedNameExporterNotReady", "", 103, 107, 107, 110},
}

func run(ctx context.Context, prometheus, write string) (err error) {
	const section = "alerts"
	if write != "" {
		if err := document.Check(write, section); err != nil {
			return err
		}
	}
	l, err := start(ctx, prometheus)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	began := time.Now()
	fired := make(firings)
	for _, d := range disturbances {
		for time.Since(began) < d.at && ctx.Err() == nil {
			if err := fired.note(ctx, l, time.Since(began)); err != nil {
				return err
			}
			_ = apistatus.Sleep(ctx, 5*time.Second) // the condition of the loop reads ctx
		}
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(os.Stderr, "%3.0f min: %s\n", time.Since(began).Minutes(), d.text)
		if err := d.do(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", d.text, err)
		}
	}
	table, err := fired.compare()
	text := fmt.Sprintf("Measured on %s at commit %s, for %.0f minutes, with kube-apiserver %s without retries "+
		"and Prometheus %s.\n\n%s", began.UTC().Format(time.DateOnly), document.Commit(), time.Since(began).Minutes(),
		controlplane.ServerVersion, l.version, table)
	fmt.Print(text)
	if err := errors.Join(err, ctx.Err()); err != nil || write == "" {
		return err
	}
	return document.Write(write, section, text)
}
