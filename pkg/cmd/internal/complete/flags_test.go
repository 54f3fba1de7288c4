package complete

import (
	"slices"
	"testing"
)

func TestOneOf(t *testing.T) {
	if got := oneOf("Output format. One of: (wide, json, name)."); !slices.Equal(got, []string{"wide", "json", "name"}) {
		t.Errorf("got %q", got)
	}
	if got := oneOf("Number of names"); got != nil {
		t.Errorf("got %q", got)
	}
}
