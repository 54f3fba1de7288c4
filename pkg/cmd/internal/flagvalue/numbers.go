package flagvalue

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// numberValue is one of pflag's flags for numbers that takes them as our tables
// print them, with thousands separated, and whose errors are for people.
type numberValue struct{ pflag.Value }

// withThousands is a number as humanize.Grouped writes it.
var withThousands = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+$`)

func (n numberValue) Set(text string) error {
	digits := text
	if n.Type() != "int64Slice" && withThousands.MatchString(text) {
		digits = strings.ReplaceAll(text, ",", "")
	}
	err := n.Value.Set(digits)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large or too small", text)
	}
	return fmt.Errorf("%q is not %s", text, numbersOf[n.Type()])
}

// numbersOf describe the values of pflag's types.
var numbersOf = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number",
	"int64Slice": "a whole number or a list of whole numbers, like 100,1000",
}

// ReadableNumbers makes the flags that take numbers numberValues.
func ReadableNumbers(flags *pflag.FlagSet) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if numbersOf[flag.Value.Type()] != "" {
			flag.Value = numberValue{flag.Value}
		}
	})
}
