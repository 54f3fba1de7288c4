// Package keyflags has the flags and variables of a key and its secrets, for all commands whose runs can be repeated.
package keyflags

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// These variables hold the key and the secret of runs without flags for them. Unlike arguments, other
// users of the machine can't read them.
const (
	KeyVariable    = "GENNAME_IDEMPOTENCY_KEY"
	secretVariable = "GENNAME_IDEMPOTENCY_SECRET"
)

// unreplaced matches a variable of a shell or a template, such as ${COMMIT}, $COMMIT, $(date) or {{workflow.uid}}.
var unreplaced = regexp.MustCompile(`\$[({A-Z_]|\{\{`)

// Flags are the key of a run and its secrets. Key is empty if the run has none. Secrets are the current secret, and
// then former secrets.
type Flags struct {
	Key     idempotency.Key
	Secrets []derive.Secret

	set *pflag.FlagSet
}

// AddTo adds the flags. usage is the help of --idempotency-key, without the last sentences.
func (f *Flags) AddTo(flags *pflag.FlagSet, usage string) {
	f.set = flags
	flags.StringVar((*string)(&f.Key), "idempotency-key", "", usage+
		" Other users of the machine can read this argument, but not $"+KeyVariable+", which is the default")
	flags.Var(new(path), "idempotency-key-file", "File with the idempotency key in its only line")
	flags.Var(new(path), "idempotency-secret-file", "File with a secret of 32 to 1,024 characters. Without the "+
		"secret, other users can't create objects that a command with the key takes for its own. Further lines of "+
		"the file are former secrets. The default is the value of $"+secretVariable)
	_ = flags.SetAnnotation("idempotency-key", "classified", []string{"true"}) // --record redacts it
}

// Read reads the key and its secrets from their flags, files or variables. An empty value is an error, because
// the run would create every object again.
func (f *Flags) Read() error {
	secret, secretSource, err := f.readValue("idempotency-secret-file", secretVariable)
	if err != nil {
		return err
	}
	// Credential plugins inherit the environment.
	_ = os.Unsetenv(secretVariable)
	defer func() { _ = os.Unsetenv(KeyVariable) }()
	source := "--idempotency-key"
	if !f.set.Changed("idempotency-key") {
		var text string
		if text, source, err = f.readValue("idempotency-key-file", KeyVariable); err != nil {
			return err
		}
		f.Key = idempotency.Key(text)
	} else if f.set.Changed("idempotency-key-file") {
		return errors.New("--idempotency-key and --idempotency-key-file cannot be used together")
	}
	switch {
	case source == "" && f.set.Changed("idempotency-secret-file"):
		return errors.New("--idempotency-secret-file needs --idempotency-key or --idempotency-key-file")
	case source == "":
		return nil
	case strings.TrimSpace(string(f.Key)) == "":
		return fmt.Errorf("%s must not be empty", source)
	case strings.ContainsAny(string(f.Key), "\r\n"):
		return fmt.Errorf("%s: must have one line", source)
	case unreplaced.MatchString(string(f.Key)): // each later run would find the objects of the first
		return fmt.Errorf("%s: the key has a variable that was not replaced, perhaps because of single quotes", source)
	}
	if err := derive.CheckKey(string(f.Key)); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if secretSource == "" {
		return nil
	}
	return f.parseSecrets(secret, secretSource)
}

// readValue returns the content of the file that a flag names, or of the environment variable, without line breaks at
// its end. source names the file or the variable, and is empty if neither is set.
func (f *Flags) readValue(flag, variable string) (value, source string, err error) {
	if f.set.Changed(flag) {
		if given, is := f.set.Lookup(flag).Value.(*path); is && given.twice {
			return "", "", fmt.Errorf("--%s is given twice", flag)
		}
		file := f.set.Lookup(flag).Value.String()
		text, err := os.ReadFile(file)
		if path := (*os.PathError)(nil); errors.As(err, &path) {
			// The value can be the secret itself, given where its file belongs.
			return "", "", fmt.Errorf("--%s must be the path of a readable file: %w", flag, path.Err)
		}
		if err != nil {
			return "", "", fmt.Errorf("--%s: %w", flag, err)
		}
		value = strings.TrimPrefix(string(text), "\ufeff") // PowerShell begins a file with a byte order mark
		return strings.TrimRight(value, "\r\n"), "--" + flag + " " + file, nil
	}
	value, isSet := os.LookupEnv(variable)
	if !isSet {
		return "", "", nil
	}
	return strings.TrimRight(value, "\r\n"), "$" + variable, nil
}

// path is the value of a flag that can be given once. An error of Set would show the value, which can be the secret.
type path struct {
	value string
	twice bool
}

func (p *path) String() string { return p.value }
func (p *path) Type() string   { return "string" }

func (p *path) Set(value string) error {
	p.twice = p.value != ""
	p.value = value
	return nil
}

func (f *Flags) parseSecrets(text, source string) error {
	if text == "" {
		return fmt.Errorf("%s must not be empty", source)
	}
	for i, line := range strings.Split(text, "\n") {
		secret, err := derive.ParseSecret(strings.TrimSuffix(line, "\r"))
		switch {
		case err != nil:
			return fmt.Errorf("%s, line %d: %w. Print a new one with: head -c 32 /dev/urandom | base64",
				source, i+1, err)
		case slices.Contains(f.Secrets, secret):
			return fmt.Errorf("%s, line %d: the secret is given twice", source, i+1)
		}
		f.Secrets = append(f.Secrets, secret)
	}
	return nil
}
