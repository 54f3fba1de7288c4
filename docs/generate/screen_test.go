package main

import "testing"

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
