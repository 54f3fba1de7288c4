package main

import (
	"slices"
	"testing"
)

// The pictures of terminals are drawn from the recordings.
func TestScreensHaveNotDrifted(t *testing.T) {
	fresh := t.TempDir()
	if err := writeScreens("../../test/sessions", fresh); err != nil {
		t.Fatal(err)
	}
	got := pages(t, "../figures")
	for name, picture := range pages(t, fresh) {
		if got[name] != picture {
			t.Errorf("docs/figures/%s has drifted: run make docs", name)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two ", "three"}},
		{"a-word-that-is-too-long b", []string{"a-word-that-is-too-long ", "b"}},
	} {
		if got := wrap(c.line, 8); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}
