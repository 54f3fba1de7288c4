// Package untrusted reads files of authors that the user doesn't trust, such as the files of a pull request. It limits
// the memory that they use, and never waits for a pipe. It doesn't evaluate the content.
package untrusted

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ReadFile returns the content of a regular file of at most MaxFile bytes and maxNodes YAML nodes.
func ReadFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(file, err)
}

// ReadIn is ReadFile for a file below a directory. It returns an error if a link leads out of the directory.
func ReadIn(root *os.Root, name string) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(file, err)
}

func read(file *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: file.Name(), Err: fmt.Errorf("not a regular file")}
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
	case len(content) > MaxFile:
		err = &os.PathError{Op: "read", Path: file.Name(), Err: fmt.Errorf("larger than %d MiB", MaxFile>>20)}
	case separators(content) > maxNodes:
		err = &os.PathError{Op: "read", Path: file.Name(), Err: fmt.Errorf("more than %d YAML nodes", maxNodes)}
	}
	return content, err
}

// IsUTF16 reports whether a byte order mark at the beginning of a text identifies UTF-16.
func IsUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// AsUTF8 returns a text, which can be UTF-16 (IsUTF16), without its byte order mark and with invalid bytes replaced, as
// kubectl does.
func AsUTF8(text []byte) []byte {
	decoded, _, err := transform.Bytes(unicode.BOMOverride(unicode.UTF8.NewDecoder()), text)
	if err != nil { // half a character at the end of UTF-16, which the parser reports
		return text
	}
	return decoded
}
