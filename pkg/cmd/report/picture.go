package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a file at once. It replaces an earlier file, and keeps its permissions. If
// something fails, the earlier file stays. A link stays a link.
func writeWhole(path string, data []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path // it is new; a link that leads nowhere is replaced
	}
	before, err := os.Stat(target)
	if err == nil && !before.Mode().IsRegular() {
		return fmt.Errorf("%s exists, and is not a file", path)
	}
	beside := filepath.Join(filepath.Dir(target), fmt.Sprintf(".genname-plot-%d", os.Getpid()))
	err = createFile(beside, data)
	if err == nil && before != nil {
		err = os.Chmod(beside, before.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(beside, target)
	}
	if err != nil {
		_ = os.Remove(beside)
		return fmt.Errorf("can't write %s: %w", path, cause(err))
	}
	return nil
}

// createFile makes a file that is not there, with the permissions that the umask
// leaves.
func createFile(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// cause returns an error of the file system without the name of the file, which is a temporary
// file's.
func cause(err error) error {
	var ofPath *fs.PathError
	var ofLink *os.LinkError
	switch {
	case errors.As(err, &ofPath):
		return ofPath.Err
	case errors.As(err, &ofLink):
		return ofLink.Err
	}
	return err
}
