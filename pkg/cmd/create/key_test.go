package create

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// read parses args, and reads the key with the variable set to value unless it is nil.
func read(t *testing.T, value *string, args ...string) (string, error) {
	t.Helper()
	if value != nil {
		t.Setenv(keyVariable, *value)
	}
	var f ownCreateFlags
	cmd := &cobra.Command{}
	f.addTo(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	err := f.readKey()
	return f.key, err
}

// A key comes from its flag, its file or its variable. An empty key is an error, and so is a key whose
// variable was empty. No error shows the key.
func TestReadKey(t *testing.T) {
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--idempotency-key-file=" + path
	}
	text := func(s string) *string { return &s }
	for name, test := range map[string]struct {
		variable *string
		args     []string
		want     string
		err      string
	}{
		"no key":                    {},
		"flag":                      {args: []string{"--idempotency-key=prod-1"}, want: "prod-1"},
		"file":                      {args: []string{file("prod-1\r\n")}, want: "prod-1"},
		"variable":                  {variable: text("prod-1"), want: "prod-1"},
		"flag before variable":      {variable: text("a"), args: []string{"--idempotency-key=b"}, want: "b"},
		"file before variable":      {variable: text("a"), args: []string{file("b")}, want: "b"},
		"base64":                    {variable: text("c2VjcmV0Cg=="), want: "c2VjcmV0Cg=="},
		"a URL":                     {variable: text("https://ci.example.com/run/7/"), want: "https://ci.example.com/run/7/"},
		"both":                      {args: []string{"--idempotency-key=a", file("b")}, err: "cannot be used together"},
		"empty flag":                {args: []string{"--idempotency-key="}, err: "--idempotency-key must not be empty"},
		"white space":               {args: []string{"--idempotency-key= "}, err: "--idempotency-key must not be empty"},
		"empty file":                {args: []string{file("\n")}, err: "must not be empty"},
		"empty variable":            {variable: text(""), err: "$GENNAME_IDEMPOTENCY_KEY must not be empty"},
		"no file":                   {args: []string{"--idempotency-key-file=/nonexistent/key"}, err: "--idempotency-key-file: open /nonexistent/key"},
		"two lines":                 {args: []string{file("secret-a\nsecret-b\n")}, err: "must have one line"},
		"an empty variable last":    {args: []string{"--idempotency-key=secret-migrate-"}, err: `ends with "-"`},
		"an empty variable first":   {args: []string{"--idempotency-key=/secret"}, err: `begins or ends with "/"`},
		"colon":                     {args: []string{"--idempotency-key=secret:"}, err: `":"`},
		"space":                     {args: []string{"--idempotency-key=secret "}, err: `" "`},
		"dot":                       {args: []string{"--idempotency-key=secret."}, err: `"."`},
		"underscore":                {args: []string{"--idempotency-key=_secret"}, err: `"_"`},
		"slash behind another text": {args: []string{"--idempotency-key=secret/"}, err: `"/"`},
		"a URL that ends with =":    {args: []string{"--idempotency-key=https://ci/?run="}, want: "https://ci/?run="},
		"a URL without a host":      {args: []string{"--idempotency-key=https://"}, err: `"/"`},
		"a URL with an empty part":  {args: []string{"--idempotency-key=https:///secret/"}, err: `"/"`},
		"a URL with an empty port":  {args: []string{"--idempotency-key=https://secret:"}, err: `":"`},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := read(t, test.variable, test.args...)
			switch {
			case test.err == "" && (err != nil || key != test.want):
				t.Errorf("%q, %v, want %q", key, err, test.want)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret")):
				t.Errorf("%v, want %q", err, test.err)
			}
		})
	}
}
