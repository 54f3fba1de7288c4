package flagvalue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestNumberValue(t *testing.T) {
	for _, test := range []struct {
		flag   string
		reason string
	}{
		{"--int=2,000", ""},
		{"--int64=-14,348,907", ""},
		{"--float=1,000", ""},
		{"--float=0.5", ""},
		{"--list=1,500,20", ""}, // commas separate the items of a list
		{"--int=ten", fmt.Sprintf("%q is not %s", "ten", "a whole number")},
		{"--int=", fmt.Sprintf("%q is not %s", "", "a whole number")},
		{"--int64=1.5", fmt.Sprintf("%q is not %s", "1.5", "a whole number")},
		{"--int64=20,00", fmt.Sprintf("%q is not %s", "20,00", "a whole number")},
		{"--int64=9223372036854775808", fmt.Sprintf("%q is too large or too small", "9223372036854775808")},
		{"--float=x", fmt.Sprintf("%q is not %s", "x", "a number")},
		{"--float32=x", fmt.Sprintf("%q is not %s", "x", "a number")},
		{"--list=1,x", fmt.Sprintf("%q is not %s", "1,x", "a whole number or a list of whole numbers, like 100,1000")},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Int("int", 0, "")
		flags.Int64("int64", 0, "")
		flags.Float64("float", 0, "")
		flags.Float32("float32", 0, "")
		flags.Int64Slice("list", nil, "")
		ReadableNumbers(flags)
		var got, want string
		if err := flags.Parse([]string{test.flag}); err != nil {
			got = err.Error()
		}
		if test.reason != "" {
			name, value, _ := strings.Cut(test.flag, "=")
			want = fmt.Sprintf("invalid argument %q for %q flag: %s", value, name, test.reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.flag, diff)
		}
	}
}
