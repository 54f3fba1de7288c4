package flagvalue

import (
	"net/url"

	"github.com/spf13/pflag"
)

// Words returns the flags that the user has set, as words of a command line, as far as repeats is true for their names.
// The user and the password of a URL are replaced.
func Words(flags *pflag.FlagSet, repeats func(name string) bool) (words []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || !repeats(flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if several, is := flag.Value.(pflag.SliceValue); is {
			values = several.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.Value.Type() != "bool":
				words = append(words, "--"+flag.Name, withoutUser(value))
			case value == "true":
				words = append(words, "--"+flag.Name)
			}
		}
	})
	return words
}

func withoutUser(value string) string {
	address, err := url.Parse(value)
	if err != nil || address.User == nil {
		return value
	}
	address.User = url.User("REDACTED")
	return address.String()
}
