// Package document writes the results of measurements into pages. A section of a page lies
// between two comments with its name, and a program replaces its text.
package document

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Section returns a text between the two comments of the section called name.
func Section(name, text string) string {
	begin, end := comments(name)
	return begin + text + end
}

func comments(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->\n", "<!-- " + name + ": end -->\n"
}

// Check fails unless the page at path has the section called name.
func Check(path, name string) error {
	_, _, err := around(path, name)
	return err
}

// Write replaces the text of the section called name in the page at path.
func Write(path, name, text string) error {
	before, after, err := around(path, name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+Section(name, text)+after), 0o644)
}

// around returns the text of the page before the section and after it.
func around(path, name string) (before, after string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	begin, end := comments(name)
	before, rest, opened := strings.Cut(string(data), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", "", fmt.Errorf("%s has no section between %q and %q", path, begin, end)
	}
	return before, after, nil
}

// Commit returns the commit of the working directory, with -dirty if it has changes.
func Commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// LoadAverage returns the load average of the last minute. Measurements on a busy machine
// should be repeated.
func LoadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
