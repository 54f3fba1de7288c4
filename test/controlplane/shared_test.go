package controlplane

import "testing"

// Two processes that start at the same time can't share control planes in one directory.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	if err := lock(dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = working.Close() }()
	if err := lock(dir); err == nil {
		t.Errorf("%s is locked twice", dir)
	}
}
