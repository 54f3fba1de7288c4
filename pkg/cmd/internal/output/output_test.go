package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// parsed returns the flags of a command line, and the help of -o.
func parsed(t *testing.T, args string, own ...string) (*Flags, string) {
	t.Helper()
	f, cmd := NewFlags(own...), &cobra.Command{}
	f.AddFlags(cmd)
	if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return f, cmd.Flags().Lookup("output").Usage
}

const kubectls = "json, yaml, kyaml, go-template, go-template-file, template, templatefile, " +
	"jsonpath, jsonpath-as-json, jsonpath-file, custom-columns, custom-columns-file"

// The help and the error of an unknown format list the same formats. The error sorts them.
func TestFormats(t *testing.T) {
	for _, test := range []struct {
		own  []string
		help string
	}{
		{nil, kubectls},
		{[]string{Wide}, Wide + ", " + kubectls},
		{[]string{Wide, "gauges"}, Wide + ", " + kubectls + ", gauges"},
	} {
		f, usage := parsed(t, "-o nope", test.own...)
		if want := "Output format. One of: (" + test.help + ")."; usage != want {
			t.Errorf("usage %q, want %q", usage, want)
		}
		want := `unable to match a printer suitable for the output format "nope", allowed formats are: ` +
			strings.Join(slices.Sorted(slices.Values(strings.Split(test.help, ", "))), ",")
		if err := f.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTake(t *testing.T) {
	f, _ := parsed(t, "-o wide", Wide)
	if err := f.Check(); err != nil || !f.Take(Wide) || f.ForMachines() || f.Check() != nil {
		t.Errorf("%v: -o wide is not taken for a table", err)
	}
	f, _ = parsed(t, "-o json", Wide)
	if f.Take(Wide) || !f.ForMachines() || f.Check() != nil {
		t.Error("-o json is taken for a table")
	}
	f, _ = parsed(t, "-o nope", Wide)
	if err := f.Check(); f.Take(Wide) || err == nil || !strings.Contains(err.Error(), "wide") || strings.Contains(f.Check().Error(), "wide") {
		t.Errorf("%v, and when it is taken %v", err, f.Check())
	}
	f, _ = parsed(t, "-o wide")
	if err := f.Check(); err == nil || !f.ForMachines() {
		t.Error("a command without a table takes -o wide")
	}
}

// Integers have all their digits, and custom columns a row for each item.
func TestPrint(t *testing.T) {
	version := &v1alpha1.VersionReport{TypeMeta: v1alpha1.TypeOf("VersionReport")}
	version.Client.GitVersion = "v1.2.3"
	collision := &v1alpha1.CollisionReport{
		TypeMeta: v1alpha1.TypeOf("CollisionReport"),
		Items:    []v1alpha1.CollisionItem{{Existing: 14348907}, {Existing: 2}},
	}
	for args, want := range map[string]string{
		"-o jsonpath={.client.gitVersion}":          "v1.2.3",
		"-o go-template={{.kind}}":                  "VersionReport",
		"--template={{.kind}}":                      "VersionReport",
		"-o custom-columns=V:.client.gitVersion":    "V\nv1.2.3\n",
		"-o yaml":                                   "apiVersion: genname.dev/v1alpha1\n",
		"-o custom-columns=N:.existing":             "N\n14348907\n2\n",
		"-o jsonpath={.items[*].existing}":          "14348907 2",
		"-o custom-columns=N:.existing,K:.nonsuch ": "N          K\n14348907   <none>\n2          <none>\n",
	} {
		f, _ := parsed(t, args)
		var out strings.Builder
		err := f.Print(version, &out)
		if strings.Contains(args, "existing") {
			out.Reset()
			err = f.Print(collision, &out)
		}
		if err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %v, %q, want %q", args, err, out.String(), want)
		}
	}
	f, _ := parsed(t, "-o nope")
	if err := f.Print(version, io.Discard); err == nil {
		t.Error("-o nope prints")
	}
}

// Any number of items is printed as kubectl's printers print the whole list.
func TestItems(t *testing.T) {
	report := func(items int) *v1alpha1.AuditReport {
		r := &v1alpha1.AuditReport{TypeMeta: v1alpha1.TypeOf("AuditReport"), Items: []v1alpha1.AuditItem{}}
		r.Scope.LabelSelector = "\n    \"items\": []\nitems: []\n"
		for i := range items {
			r.Items = append(r.Items, v1alpha1.AuditItem{PrefixRef: v1alpha1.PrefixRef{Prefix: "<run>\n- "}, Names: int64(i), Notes: []string{"a: b", "items: []"}})
		}
		return r
	}
	for format, whole := range map[string]printers.ResourcePrinter{"json": &printers.JSONPrinter{}, "yaml": &printers.YAMLPrinter{}} {
		f, _ := parsed(t, "-o "+format)
		for _, object := range []runtime.Object{
			report(0), report(1), report(3), &v1alpha1.VersionReport{TypeMeta: v1alpha1.TypeOf("VersionReport")},
		} {
			var got, want strings.Builder
			if err := errors.Join(f.Print(object, &got), whole.PrintObj(object, &want)); err != nil || got.String() != want.String() {
				t.Errorf("%v, %s\nwant %s", err, got.String(), want.String())
			}
		}
		for left := range 900 { // wherever that breaks off
			if err := f.Print(report(2), &failing{left: left}); err == nil {
				t.Fatalf("-o %s: %d bytes are enough", format, left)
			}
		}
	}
}

// failing is a writer that fails after a number of bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errors.New("full")
	}
	return n, nil
}

func TestCheckedWriter(t *testing.T) {
	w := &CheckedWriter{Writer: &failing{left: 3}}
	if n, err := w.Write([]byte("ab")); n != 2 || err != nil || w.Err() != nil {
		t.Errorf("%d, %v, %v, want 2 and no error", n, err, w.Err())
	}
	n, first := w.Write([]byte("cd"))
	if n != 1 || first == nil {
		t.Errorf("%d, %v, want 1 and an error", n, first)
	}
	w.Writer = &failing{left: 9}
	if _, err := w.Write([]byte("e")); err != nil || !errors.Is(w.Err(), first) {
		t.Errorf("%v: the error %v is forgotten: %v", err, first, w.Err())
	}
}

// No line of YAML is a command for a CI system, even with several documents. Readers get the same text.
func TestInertYAML(t *testing.T) {
	for _, format := range []string{"yaml", "kyaml"} {
		for _, text := range []string{"a\n::add-mask::b", "a\n  ::add-mask::b\n", "##[add-mask]a", "a::b\nc", "a"} {
			f, _ := parsed(t, "-o "+format)
			var written bytes.Buffer
			report := &v1alpha1.LintReport{TypeMeta: v1alpha1.TypeOf("LintReport"), Items: []v1alpha1.LintItem{{Message: text}}}
			if err := errors.Join(f.Print(report, &written), f.Print(report, &written)); err != nil {
				t.Fatal(err)
			}
			first, second, _ := strings.Cut(strings.TrimPrefix(written.String(), "---\n"), "---\n")
			for _, document := range []string{first, second} {
				var got v1alpha1.LintReport
				if err := yaml.Unmarshal([]byte(document), &got); err != nil || len(got.Items) != 1 || got.Items[0].Message != text {
					t.Errorf("%q as %s: %v, %s", text, format, err, written.String())
				}
			}
			for line := range strings.Lines(written.String()) {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || reference.RunnerCommand.MatchString(line) {
					t.Errorf("%q as %s: %s", text, format, written.String())
				}
			}
		}
	}
}

// No text in JSON or XML is a command for a CI system, even if it is written in parts. Readers get the same text.
func TestInert(t *testing.T) {
	for _, text := range []string{"##[add-mask]a", "###vso[task]", "a##teamcity[b", "#[a]", "## [a]", "##-[a]", "[", "##[[", "##a##[b]"} {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for size := 1; size <= len(data); size++ {
			var written bytes.Buffer
			to := InertJSON(&written)
			for part := range slices.Chunk(data, size) {
				if n, err := to.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			var got string
			if err := json.Unmarshal(written.Bytes(), &got); err != nil || got != text || reference.RunnerCommand.Match(written.Bytes()) {
				t.Errorf("%s in parts of %d: %s, %v", text, size, written.String(), err)
			}
		}
	}
}
