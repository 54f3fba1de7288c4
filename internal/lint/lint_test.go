package lint

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// source returns a source whose content is text.
func source(name, text string) Source {
	return Source{Name: name, Read: func(context.Context) ([]byte, error) { return []byte(text), nil }}
}

// check checks a file.
func check(t *testing.T, text string) *Result {
	t.Helper()
	result, err := Run(t.Context(), []Source{source("a.yaml", text)}, Config{Minor: 37})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const prefixed = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: run\n"

// Findings are in the order of the sources, even if a later source is read first. An unreadable source doesn't affect
// the others.
func TestOrder(t *testing.T) {
	bad := errors.New("no such file")
	result, err := Run(t.Context(), []Source{
		source("b.yaml", prefixed),
		{Name: "x.yaml", Read: func(context.Context) ([]byte, error) { return nil, bad }},
		source("a.yaml", prefixed+"---\n"+prefixed),
	}, Config{Minor: 37})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%s:%d", f.Object.File, f.Line))
	}
	if strings.Join(got, " ") != "b.yaml:4 a.yaml:4 a.yaml:9" || result.Objects != 3 || len(result.Read) != 2 {
		t.Errorf("findings %v, %d objects, read %q, want b.yaml:4 a.yaml:4 a.yaml:9, 3 objects and 2 files", got, result.Objects, result.Read)
	}
	if len(result.Unreadable) != 1 || !errors.Is(result.Unreadable[0].Err, bad) {
		t.Error(result.Unreadable)
	}
}

// After a check, lint drops the positions of a file's fields, because they take much more memory than its text.
func TestPositionsAreDropped(t *testing.T) {
	sources := []Source{source("a.yaml", prefixed+"data: ["+strings.Repeat("a,", 500_000)+"]\n")}
	used := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := used()
	result, err := Run(t.Context(), sources, Config{Minor: 37})
	if err != nil || len(result.Findings) != 1 {
		t.Fatal(err, result)
	}
	if after := used(); after > before+10<<20 {
		t.Errorf("%d bytes before, and %d after", before, after)
	}
	runtime.KeepAlive(result)
}

// An annotation with many reasons uses little memory.
func TestManyReasons(t *testing.T) {
	text := strings.Replace(prefixed, "metadata:\n", "metadata:\n  annotations: {genname.dev/lint-disable: \""+strings.Repeat("a;", 1000)+"\"}\n", 1)
	result := check(t, text)
	if n := len(result.Idle); n != maxReasons+1 || !strings.Contains(result.Idle[n-1].Trouble, "only 100 reasons") {
		t.Errorf("%d reasons", n)
	}
}

// A comment disables rules only for the line that it is about.
func TestSilenceOfALine(t *testing.T) {
	const comment = "# genname:disable no-separator: meant"
	for text, want := range map[string]int{
		strings.Replace(prefixed, "run\n", "run "+comment+"\n", 1):                        0,
		strings.Replace(prefixed, "  generate", "  "+comment+"\n  # more\n  generate", 1): 0,
		strings.Replace(prefixed, "metadata:\n", comment+"\nmetadata:\n", 1):              1,
		prefixed + comment + "\n":                      1,
		comment + "\n" + prefixed:                      0,
		comment + "\n---\n" + prefixed:                 0,
		comment + "\n" + prefixed + "---\n" + prefixed: 1,
		strings.Replace(prefixed, "  generate", "  x: \""+comment+"\"\n  generate", 1):       1,
		strings.Replace(prefixed, "metadata:", "x: |\n  "+comment+"\nmetadata:", 1):          1,
		comment + "\n" + strings.Replace(prefixed, "  generate", "  # other\n  generate", 1): 0,
	} {
		result := check(t, text)
		open := 0
		for _, f := range result.Findings {
			if f.Silence == nil {
				open++
			}
		}
		if idle := len(result.Idle); open != want || open == 0 && idle > 0 {
			t.Errorf("%d findings are left, want %d, and %d idle silences:\n%s", open, want, idle, text)
		}
	}
}

// If kubectl ignores or changes text without an error, lint reports the text as unreadable, with its line. If a file is
// no manifest, lint names its actual format.
func TestTextThatKubectlLoses(t *testing.T) {
	for text, want := range map[string]string{
		prefixed + "...\n# end\n":                                                  "",
		prefixed + "...\n---\n" + prefixed:                                         "",
		prefixed + "...\n%YAML 1.1\n---\n" + prefixed:                              "",
		"# {a}\n{kind: A, apiVersion: v1}\n":                                       "",
		prefixed + "...\n\n" + prefixed:                                            "7 kubectl ignores the text",
		prefixed + "---\n{kind: A, apiVersion: v1}\n{kind: B, apiVersion: v1}\n":   "7 kubectl ignores the text",
		`{"kind":"A","apiVersion":"v1"}` + "\n" + `{"kind":"B","apiVersion":"v1"}`: "",
		prefixed + "data: {a: \"\xff\"}\n":                                         "5 a byte that isn't UTF-8",
		prefixed + "data: {a: é}\n":                                                "",
		"<!DOCTYPE html>\n<html></html>\n":                                         "1 an HTML page",
		"kind: A\napiVersion: v1\nx: {{ .Values.x }}\n":                            "3 a template",
		"kind: A\napiVersion: v1\nx:\n  {{- y\n    | z }}\n  {{ $a }}: {{ $b }}\n  {{ if $a }}y: \"\"{{ end }}\n": "4 a template",
		"kind: A\napiVersion: v1\nx:\n{{ $a }} # b\n  y: 1\n":                                                     "4 a template",
		"kind: A\napiVersion: v1\nx:\n  {{ f \"{{ .a }}\" }}\ny: 1\n":                                             "4 a template",
		strings.Repeat("kind: A\napiVersion: v1\nx: {{ .a }}\n---\n", 2):                                          "3 a template",
		"kind: A\napiVersion: v1\nx:{{ range .y }}\n- {{ . }}{{ end }}\n":                                         "3 a template",
		"kind: A\napiVersion: v1\nx:\n__MORE__\n  y: 1\n":                                                         "4 a template",
		"kind: A\napiVersion: v1\nx: @NAME@\n":                                                                    "3 a template",
		prefixed + "---\n{{- if .a }}\n" + prefixed + "{{- end }}\n{{- if .b }}\n{{- end }}\n":                    "6 a template",
	} {
		result := check(t, text)
		got := ""
		for _, u := range result.Unreadable {
			got += fmt.Sprintf("%d %v", u.Line, u.Err)
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" || len(result.Unreadable) > 1 {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
