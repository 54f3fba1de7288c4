// Command figure draws the figures of lab/experiment/README.md from the results.json that "make -f lab/Makefile
// measure" wrote. With -odds it draws the figures of docs/internals/kep-4420.md.
//
//	go run . ../measured
//	go run . -odds ../../../docs/figures
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// results are the fields of results.json that the figures show.
type results struct {
	Names         int `json:"names"`
	FirstFailures []struct {
		ServerAttempts int     `json:"serverAttempts"`
		ClientAttempts int     `json:"clientAttempts"`
		Mean           float64 `json:"mean"`
		Error          float64 `json:"standardError"`
		Expected       float64 `json:"expected"`
	} `json:"firstFailures"`
	Rates []struct {
		ServerAttempts int     `json:"serverAttempts"`
		Existing       float64 `json:"existing"`
		Measured       float64 `json:"measured"`
		Error          float64 `json:"standardError"`
		Expected       float64 `json:"expected"`
	} `json:"rates"`
}

func main() {
	odds := flag.Bool("odds", false, "draw the chance of a failure for 0 to 8 retries")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: figure [-odds] DIRECTORY")
		os.Exit(2)
	}
	draw := run
	if *odds {
		draw = saveOdds
	}
	if err := draw(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		return err
	}
	var r results
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("results.json: %w", err)
	}
	for name, f := range map[string]figure{"first-failures.svg": r.firstFailures(), "rates.svg": r.rates()} {
		if err := f.save(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
