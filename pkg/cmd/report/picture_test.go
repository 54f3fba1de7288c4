package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A failed write keeps the old content, and leaves no other file.
func TestWriteWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "odds.svg")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(path, []byte("picture")); err == nil {
		t.Error("a device was replaced by a picture")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// A file keeps its permissions, and a link still leads to the picture. A new file has the usual
// permissions.
func TestWriteWholeKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	target, link, fresh, usual := filepath.Join(dir, "odds.svg"), filepath.Join(dir, "link.svg"), filepath.Join(dir, "new.svg"), filepath.Join(dir, "usual")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(usual, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("odds.svg", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, fresh} {
		if err := writeWhole(path, []byte("picture")); err != nil {
			t.Fatal(err)
		}
	}
	mode := func(path string) os.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "picture" || mode(target) != 0o600 || mode(link)&os.ModeSymlink == 0 {
		t.Errorf("%q, %v, modes %v and %v", text, err, mode(target), mode(link))
	}
	if mode(fresh) != mode(usual) {
		t.Errorf("a new file has %v, want %v", mode(fresh), mode(usual))
	}
}

// An error names the file of --plot, not the temporary file.
func TestWriteWholeNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonsuch", "odds.svg")
	if err := writeWhole(path, nil); err == nil || err.Error() != fmt.Errorf("can't write %s: %w", path, syscall.ENOENT).Error() {
		t.Error(err)
	}
	if err := writeWhole(filepath.Join(t.TempDir(), strings.Repeat("x", 300)+".svg"), nil); err == nil || strings.Count(err.Error(), "xxx.svg") != 1 {
		t.Error(err)
	}
}
