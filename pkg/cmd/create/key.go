package create

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
)

// keyVariable holds the key of runs without a flag for it. Unlike an argument, other users of the
// machine can't read it.
const keyVariable = "GENNAME_IDEMPOTENCY_KEY"

// readKey sets the key from its flag, its file or its variable. An empty key is an error, because
// the run would create every object again.
func (f *ownCreateFlags) readKey() error {
	source := "--idempotency-key"
	switch inFlag, inFile := f.set.Changed("idempotency-key"), f.set.Changed("idempotency-key-file"); {
	case inFlag && inFile:
		return errors.New(messages.TwoKeys)
	case inFlag:
	case inFile:
		source = "--idempotency-key-file " + f.keyFile
		text, err := os.ReadFile(f.keyFile)
		if err != nil {
			return fmt.Errorf("--idempotency-key-file: %w", err)
		}
		f.key = strings.TrimRight(string(text), "\r\n")
	default:
		var isSet bool
		if f.key, isSet = os.LookupEnv(keyVariable); !isSet {
			return nil
		}
		source = "$" + keyVariable
	}
	switch {
	case strings.TrimSpace(f.key) == "":
		return fmt.Errorf(messages.EmptyKey, source)
	case f.keyFile != "" && strings.ContainsAny(f.key, "\r\n"):
		return fmt.Errorf(messages.KeyOfManyLines, f.keyFile)
	}
	return validateEndsOf(f.key)
}

// validateEndsOf returns an error for a key like "migrate-$COMMIT" with an empty variable. Such a key
// is the same for all commits. The URL of a pipeline can end with a slash, but not one without a host.
func validateEndsOf(key string) error {
	separator := func(r rune) bool { return strings.ContainsRune("-_./:", r) || unicode.IsSpace(r) }
	runes := []rune(key)
	first, last := runes[0], runes[len(runes)-1]
	parsed, err := url.Parse(key)
	isURL := err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != ""
	switch {
	case separator(first):
		return fmt.Errorf(messages.BadEndOfKey, string(first))
	case separator(last) && (!isURL || last != '/'):
		return fmt.Errorf(messages.BadEndOfKey, string(last))
	}
	return nil
}
