package untrusted_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v2"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// bomb returns YAML in which nested aliases expand to wide^deep values.
func bomb(wide, deep int) string {
	var text strings.Builder
	text.WriteString("x0: &x0 [" + strings.Repeat("a,", wide) + "]\n")
	for i := 1; i < deep; i++ {
		fmt.Fprintf(&text, "x%d: &x%[1]d [%s]\n", i, strings.Repeat(fmt.Sprintf("*x%d,", i-1), wide))
	}
	return text.String()
}

func TestCheckAliases(t *testing.T) {
	large := strings.Repeat("large ", 200_000)
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"an anchor", "a: &a {b: c}\nd: *a\ne: {<<: *a}\n", ""},
		{"some copies", bomb(9, 3), ""},
		{"a bomb", bomb(9, 9), "excessive aliasing"},
		{"a bomb in the second document", "a: b\n---\n" + bomb(9, 9), "excessive aliasing"},
		{"a bomb in an inline patch", "patches:\n- patch: |\n    " + strings.ReplaceAll(bomb(9, 9), "\n", "\n    "), "excessive aliasing"},
		{"a bomb of merge keys", "a: &a {b: c}\n" + strings.Repeat("<<: [*a, *a, *a, *a]\n", 150_000), "excessive aliasing"},
		{"a cycle", "a: &a [*a]\n", "contains itself"},
		{"a cycle of two", "a: &a\n  b: &b {c: *a}\n", "contains itself"},
		{"copies of a large string", "a: &a " + large + "\nb: [" + strings.Repeat("*a,", 20) + "]\n", "larger than 16 MiB"},
		{"a script", "#!/bin/sh\nls * && { rm -r *; }\n", ""},
	} {
		err := untrusted.CheckAliases([]byte(test.text))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestBudget(t *testing.T) {
	for _, test := range []struct {
		name  string
		text  string
		times int // number of times that the budget is enough for the text
	}{
		{"empty files", "", 16384},
		{"large files", strings.Repeat("a", 8<<20), 8},
		{"short items", "[" + strings.Repeat("a,", 500_000) + "]", 3},
		{"copies of a large string", "a: &a " + strings.Repeat("a", 1<<20) + "\nb: [" + strings.Repeat("*a,", 14) + "]\n", 4},
	} {
		var budget untrusted.Budget
		times := 0
		for budget.Take([]byte(test.text)) == nil {
			times++
		}
		if times != test.times {
			t.Errorf("%s: the budget suffices for %d, want %d", test.name, times, test.times)
		}
	}
}

func TestRead(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path string, size int64) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret"), 10)
	write(filepath.Join(dir, "file"), untrusted.MaxFile)
	write(filepath.Join(dir, "larger"), untrusted.MaxFile+1)
	if err := os.WriteFile(filepath.Join(dir, "nodes"), bytes.Repeat([]byte(","), 2_000_001), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(target, name string) error { return os.Symlink(target, filepath.Join(dir, name)) }
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), link("file", "link"),
		link("/dev/zero", "zero"), link("pipe", "pipelink"), link(filepath.Join(outside, "secret"), "out"),
		link(outside, "dir"), link("loop", "loop")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, want := range map[string]string{
		"file": "", "link": "", "larger": "larger than 16 MiB", "nodes": "more than 2000000 YAML nodes", "pipe": "not a regular file",
		"pipelink": "not a regular file", "zero": "escapes", "out": "escapes", "dir/secret": "escapes",
		"../" + filepath.Base(outside) + "/secret": "escapes", "loop": "too many", "missing": "no such file", ".": "not a regular file",
	} {
		content, err := untrusted.ReadIn(root, name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && len(content) == 0 {
			t.Errorf("%s: %d bytes, %v, want %q", name, len(content), err, want)
		}
		_, err = untrusted.ReadFile(filepath.Join(dir, name))
		if escapes := want == "escapes"; !escapes && (err == nil) != (want == "") || name == "zero" && err == nil {
			t.Errorf("%s by its path: %v", name, err)
		}
	}
}

// FuzzCheckAliases checks that a text that CheckAliases accepts doesn't use much memory in kustomize's reader. It also
// checks that kubectl's decoder accepts the aliases of such a text. Run it with a memory limit.
func FuzzCheckAliases(f *testing.F) {
	for _, text := range []string{
		"a: &a [*a]\n", bomb(3, 3), bomb(9, 7), "a: &a {b: c}\n<<: *a\n", "- &a b\n- *a\n---\n- *a\n", "a: |\n  b: &b [*b]\n",
		"? &a b\n: *a\n", "%YAML 1.1\n---\na: &a b\n...\nc: *a\n", "a: &a\n- *a\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := untrusted.CheckAliases(text)
		if err == nil {
			_, _ = kio.FromBytes(text)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Errorf("%d bytes used %d MiB: %v", len(text), used>>20, err)
		}
		var value any
		refused := yaml.Unmarshal(text, &value)
		if err == nil && refused != nil && strings.Contains(refused.Error(), "excessive aliasing") {
			if _, err := kio.FromBytes(text); err == nil {
				t.Errorf("kubectl's decoder refuses it: %v", refused)
			}
		}
	})
}
