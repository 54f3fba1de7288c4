package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/campaign"
)

// row is what was seen of a server.
type row struct {
	server
	tries     int // names tried, by what etcd was asked
	said      int // names tried, by what the plugin says
	source    string
	campaigns []*campaign.Result
	audited   int // objects
	broken    error
}

// check returns what is not as promised: the wrong number of tries is one said
// for certain, for a default may have been changed.
func (r row) check() error {
	err := r.broken
	if r.tries != r.server.tries {
		err = errors.Join(err, fmt.Errorf("it tries %d names, and %d were expected", r.tries, r.server.tries))
	}
	if r.said != r.tries && r.source != "default" {
		err = errors.Join(err, fmt.Errorf("it tries %d names, and %d are said for certain (%s)", r.tries, r.said, r.source))
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.version, r.gate, err)
	}
	return nil
}

func table(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Seen on %s with `make compat`.\n\n", time.Now().UTC().Format(time.DateOnly))
	b.WriteString("| kube-apiserver | the gate | names tried | `version` says | " +
		"with a key: asked for, there, too many, missing | without: asked for, there, too many, unknown | audited |\n")
	b.WriteString("|---|---|--:|---|---|---|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %d (%s) |", r.version, r.gate, r.tries, r.said, r.source)
		for _, c := range r.campaigns {
			last := c.Missing
			if c.Contestant.Name == "keyless" {
				last = c.Unknown
			}
			fmt.Fprintf(&b, " %d, %d, %d, %d |", c.Asked, c.Present, c.Duplicates, last)
		}
		fmt.Fprintf(&b, " %d objects, as listed |\n", r.audited)
	}
	return b.String()
}

const (
	begin = "<!-- compat: begin -->\n"
	end   = "<!-- compat: end -->\n"
)

// replace puts the table into the document at path, instead of the one there.
func replace(path, table string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has nothing between %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+table+end+after), 0o644)
}
