package keyflags

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// read parses args, and reads the key and the secrets. Unless value is nil, the variable has the value.
func read(t *testing.T, variable string, value *string, args ...string) (*Flags, error) {
	t.Helper()
	if value != nil {
		t.Setenv(variable, *value)
	}
	f, set := &Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	f.AddTo(set, "")
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f, f.Read()
}

// fileFlag returns the flag for a file with the content of a key or a secret.
func fileFlag(t *testing.T, what, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), what)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--idempotency-" + what + "-file=" + path
}

// A key comes from its flag, its file or its variable. An empty key is an error, and so is a key whose
// variable was empty. No error shows the key.
func TestReadKey(t *testing.T) {
	file := func(content string) string { return fileFlag(t, "key", content) }
	for name, test := range map[string]struct {
		variable *string
		args     []string
		want     string
		err      string
	}{
		"no key":               {},
		"flag":                 {args: []string{"--idempotency-key=prod-1"}, want: "prod-1"},
		"file":                 {args: []string{file("prod-1\r\n")}, want: "prod-1"},
		"file of Windows":      {args: []string{file("\ufeffprod-1\r\n")}, want: "prod-1"},
		"variable":             {variable: new("prod-1"), want: "prod-1"},
		"flag before variable": {variable: new("a"), args: []string{"--idempotency-key=b"}, want: "b"},
		"file before variable": {variable: new("a"), args: []string{file("b")}, want: "b"},
		"base64":               {variable: new("c2VjcmV0Cg=="), want: "c2VjcmV0Cg=="},
		"white space":          {args: []string{"--idempotency-key= "}, err: "--idempotency-key must not be empty"},
		"empty file":           {args: []string{file("\n")}, err: "must not be empty"},
		"empty variable":       {variable: new(""), err: "$GENNAME_IDEMPOTENCY_KEY must not be empty"},
		"two lines":            {args: []string{file("secret-a\nsecret-b\n")}, err: "must have one line"},
		"without braces":       {variable: new("secret-$COMMIT"), err: "not replaced"},
		"a command":            {args: []string{file("secret-$(date)")}, err: "not replaced"},
		"a price":              {args: []string{"--idempotency-key=a$5{b}"}, want: "a$5{b}"},
		"not UTF-8":            {args: []string{"--idempotency-key=a\xff"}, err: "the key is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := read(t, KeyVariable, test.variable, test.args...)
			switch {
			case test.err == "" && (err != nil || string(f.Key) != test.want):
				t.Errorf("%q, %v, want %q", f.Key, err, test.want)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret")):
				t.Errorf("%v, want %q", err, test.err)
			}
			if _, isSet := os.LookupEnv(KeyVariable); isSet {
				t.Error("credential plugins inherit the variable")
			}
		})
	}
}

// A secret has a line in its file or variable, and former secrets have further lines. An empty or short
// secret is an error, because the run would create every object again. No error shows a secret. The
// variable is removed, because credential plugins inherit the environment.
func TestReadSecret(t *testing.T) {
	const a, b = "secret-0123456789abcdef0123456789", "secret-abcdefghijklmnopqrstuvwxyz!"
	file := func(content string) string { return fileFlag(t, "secret", content) }
	key := "--idempotency-key=k"
	for name, test := range map[string]struct {
		variable *string
		args     []string
		want     []string
		err      string
	}{
		"none":                   {args: []string{key}},
		"file":                   {args: []string{key, file(a + "\r\n")}, want: []string{a}},
		"variable":               {variable: new(a + "\n"), args: []string{key}, want: []string{a}},
		"file before variable":   {variable: new(b), args: []string{key, file(a)}, want: []string{a}},
		"former":                 {args: []string{key, file(a + "\n" + b + "\n")}, want: []string{a, b}},
		"variable without a key": {variable: new(a)},
		"empty, without a key":   {variable: new("")},
		"empty file":             {args: []string{key, file("\n")}, err: "must not be empty"},
		"empty variable":         {variable: new(""), args: []string{key}, err: "$GENNAME_IDEMPOTENCY_SECRET must not be empty"},
		"too short":              {args: []string{key, file("secret-too-short")}, err: "line 1: the secret has 16 characters, and needs 32 to 1,024"},
		"too long":               {args: []string{key, file(strings.Repeat("secret", 200))}, err: "has 1200 characters"},
		"not ASCII":              {args: []string{key, file(a + "é")}, err: "not printable ASCII"},
		"an empty line":          {args: []string{key, file(a + "\n\n" + b)}, err: "line 2: the secret has 0 characters"},
		"a file and a secret":    {args: []string{key, file(a), "--idempotency-secret-file=" + a}, err: "--idempotency-secret-file is given twice"},
		"a secret and a file":    {args: []string{key, "--idempotency-secret-file=" + a, file(a)}, err: "--idempotency-secret-file is given twice"},
		"one secret twice":       {args: []string{key, file(a + "\n" + a)}, err: "line 2: the secret is given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := read(t, secretVariable, test.variable, test.args...)
			var want []derive.Secret
			for _, text := range test.want {
				secret, err := derive.ParseSecret(text)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, secret)
			}
			switch {
			case test.err == "" && (err != nil || !slices.Equal(f.Secrets, want)):
				t.Errorf("%d secrets, %v, want %d", len(f.Secrets), err, len(want))
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret-0")):
				t.Errorf("%v, want %q", err, test.err)
			}
			if _, isSet := os.LookupEnv(secretVariable); isSet {
				t.Error("the variable is still set")
			}
		})
	}
}
