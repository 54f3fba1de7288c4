package create

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// These variables hold the key and the secret of runs without flags for them. Unlike arguments, other
// users of the machine can't read them.
const (
	keyVariable    = "GENNAME_IDEMPOTENCY_KEY"
	secretVariable = "GENNAME_IDEMPOTENCY_SECRET"
)

// readKey reads the key and its secrets from their flags, files or variables. An empty value is an error, because
// the run would create every object again.
func (f *ownCreateFlags) readKey() error {
	secret, secretSource, err := f.readValue("idempotency-secret-file", secretVariable)
	if err != nil {
		return err
	}
	// Credential plugins inherit the environment.
	_ = os.Unsetenv(secretVariable)
	defer func() { _ = os.Unsetenv(keyVariable) }()
	source := "--idempotency-key"
	if !f.set.Changed("idempotency-key") {
		if f.key, source, err = f.readValue("idempotency-key-file", keyVariable); err != nil {
			return err
		}
	} else if f.set.Changed("idempotency-key-file") {
		return errors.New("--idempotency-key and --idempotency-key-file cannot be used together")
	}
	switch {
	case source == "" && f.set.Changed("idempotency-secret-file"):
		return errors.New("--idempotency-secret-file needs --idempotency-key or --idempotency-key-file")
	case source == "":
		return nil
	case strings.TrimSpace(f.key) == "":
		return fmt.Errorf(textEmptyKey, source)
	case strings.ContainsAny(f.key, "\r\n"):
		return fmt.Errorf("%s: must have one line", source)
	}
	if err := derive.CheckKey(f.key); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if secretSource == "" {
		return nil
	}
	return f.parseSecrets(secret, secretSource)
}

// readValue returns the content of the file that a flag names, or of the environment variable, without line breaks at
// its end. source names the file or the variable, and is empty if neither is set.
func (f *ownCreateFlags) readValue(flag, variable string) (value, source string, err error) {
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
		return strings.TrimRight(string(text), "\r\n"), "--" + flag + " " + file, nil
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

// parseSecrets sets the secrets from the lines of a text: the secret, and former secrets.
func (f *ownCreateFlags) parseSecrets(text, source string) error {
	if text == "" {
		return fmt.Errorf(textEmptyKey, source)
	}
	for i, line := range strings.Split(text, "\n") {
		secret, err := derive.ParseSecret(strings.TrimSuffix(line, "\r"))
		switch {
		case err != nil:
			return fmt.Errorf("%s, line %d: %w. Print a new one with: head -c 32 /dev/urandom | base64",
				source, i+1, err)
		case slices.Contains(f.secrets, secret):
			return fmt.Errorf("%s, line %d: the secret is given twice", source, i+1)
		}
		f.secrets = append(f.secrets, secret)
	}
	return nil
}
