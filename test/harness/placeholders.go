package harness

import (
	"regexp"
	"strings"
)

// A placeholder replaces values that differ between runs.
type placeholder struct {
	pattern *regexp.Regexp
	by      string
	wide    bool // the width of a table depends on the value
}

var placeholders = []placeholder{
	{pattern: regexp.MustCompile(`(-|re)` + Suffix + `\b`), by: `${1}xxxxx`},
	{pattern: regexp.MustCompile(`\b(v1s?|r1)-[0-9a-f]{32}\b`), by: `$1-id`},
	{pattern: regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), by: `uid`},
	{pattern: regexp.MustCompile(`(Client Version:) \S+`), by: `$1 version`},
	{pattern: regexp.MustCompile(`\b\d{4}-\d\d-\d\dT[\d:.]+Z`), by: `time`},
	{pattern: regexp.MustCompile(`\b(\d+[dhms])+ ago\b`), by: `age ago`},
	// The column AGE after a generated name.
	{pattern: regexp.MustCompile(`(-xxxxx) +\+?(\d+[dhms])+\b`), by: `$1  age`, wide: true},
	{pattern: regexp.MustCompile(`https://127\.0\.0\.1:\d{4,}`), by: `https://server`},
	{pattern: regexp.MustCompile(`\b(\d+m)?\d+s of (\d+[ms])`), by: `time of $2`},
	{pattern: regexp.MustCompile(`not settled in [\d.]+s`), by: `not settled in time`}, // if the last request was slow
	{pattern: regexp.MustCompile(`room for [\d,]+ more`), by: `room for more`},
	{pattern: regexp.MustCompile(`\+[\d.]+/(s|min|h)\b`), by: ` rate `, wide: true},
	// The Pods that the Job controller has created so far.
	{pattern: regexp.MustCompile(`(?m)^pods +\(\d+ Jobs\).*\n`), wide: false},
}

var spaces = regexp.MustCompile(` {2,}`)

// Placeholders replaces names, ages, times and all other values that differ between runs. No other function of the
// tests replaces such values.
func Placeholders(text string) string {
	wide := false
	for _, p := range placeholders {
		wide = wide || p.wide && p.pattern.MatchString(text)
		text = p.pattern.ReplaceAllString(text, p.by)
	}
	if wide {
		text = spaces.ReplaceAllString(text, "  ")
	}
	return strings.TrimRight(text, "\n") + "\n"
}
