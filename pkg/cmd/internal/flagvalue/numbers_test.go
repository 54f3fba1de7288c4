package flagvalue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestNumberValue(t *testing.T) {
	for _, test := range []struct {
		flag string
		err  string
	}{
		{"--int=2,000", ""},
		{"--int64=-14,348,907", ""},
		{"--float=1,000", ""},
		{"--float=0.5", ""},
		{"--list=1,500,20", ""}, // a list has commas of its own
		{"--int=ten", `invalid argument "ten" for "--int" flag: "ten" is not a whole number`},
		{"--int=", `invalid argument "" for "--int" flag: "" is not a whole number`},
		{"--int64=1.5", `invalid argument "1.5" for "--int64" flag: "1.5" is not a whole number`},
		{"--int64=20,00", `invalid argument "20,00" for "--int64" flag: "20,00" is not a whole number`},
		{"--int64=9223372036854775808", `invalid argument "9223372036854775808" for "--int64" flag: "9223372036854775808" is too large or too small`},
		{"--float=x", `invalid argument "x" for "--float" flag: "x" is not a number`},
		{"--list=1,x", `invalid argument "1,x" for "--list" flag: "1,x" is not a whole number, or several with commas between`},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Int("int", 0, "")
		flags.Int64("int64", 0, "")
		flags.Float64("float", 0, "")
		flags.Int64Slice("list", nil, "")
		ReadableNumbers(flags)
		var got string
		if err := flags.Parse([]string{test.flag}); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.err, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.flag, diff)
		}
	}
}
