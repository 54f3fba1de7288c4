package flagvalue

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

type color string

const (
	red   color = "red"
	green color = "green"
	blue  color = "blue"
)

// The help, the error and the completion have the words of the one list.
func TestEnum(t *testing.T) {
	e := NewEnum(green, red, green, blue)
	usage := e.Usage("Color", map[color]string{red: "as blood", blue: "as the sky"})
	if want := "Color: red (as blood), green or blue (as the sky)"; usage != want {
		t.Errorf("usage %q, want %q", usage, want)
	}
	if words := e.Words(); !slices.Equal(words, []string{"red", "green", "blue"}) {
		t.Errorf("words %q", words)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Var(&e, "color", usage)
	if got := flags.Lookup("color").DefValue; got != "green" || e.Value != green {
		t.Errorf("default %q, %q", got, e.Value)
	}
	if err := flags.Parse([]string{"--color=blue"}); err != nil || e.Value != blue || e.String() != "blue" {
		t.Errorf("%q, want %q: %v", e.Value, blue, err)
	}
	for word, nearest := range map[string]string{
		"": "", "Red": ". Did you mean red?", "pink": "", "red,green": "", "gren": ". Did you mean green?",
	} {
		want := `invalid argument "` + word + `" for "--color" flag: must be red, green or blue` + nearest
		if err := flags.Parse([]string{"--color=" + word}); err == nil || err.Error() != want || e.Value != blue {
			t.Errorf("%v, want %s, and %q", err, want, e.Value)
		}
	}
}
