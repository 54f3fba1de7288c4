// Package untrusted reads files of authors whom the user doesn't trust, such as the files of a pull request. It limits
// the memory that these files use, and never waits for a pipe. It doesn't evaluate the content.
package untrusted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// MaxFile limits the bytes of one file, and the bytes of the copies that aliases make in one YAML text.
const MaxFile = 16 << 20

// These limits are for all texts together. kustomize needs up to 1.8 KB for a YAML node, and 3.5 GB for maxNodes. CRDs
// of 1 MB have about 30,000 nodes. An empty file needs memory, too, so it counts as minText bytes.
const (
	maxAll   = 4 * MaxFile
	maxNodes = 2_000_000
	minText  = 4 << 10
)

// Budget is the memory that the files of one build can use. The zero value is a full budget.
type Budget struct{ size, nodes int }

// Take subtracts a text from the budget. Its error means that the budget is used up, or comes from CheckAliases.
func (b *Budget) Take(text []byte) error {
	b.size += max(len(text), minText)
	b.nodes += separators(text)
	if err := b.check(); err != nil {
		return err
	}
	e, err := expand(text)
	if err != nil {
		return err
	}
	b.size += e.size
	b.nodes += e.nodes
	return b.check()
}

func (b *Budget) check() error {
	switch {
	case b.size > maxAll:
		return fmt.Errorf("all files together are larger than %d MiB", maxAll>>20)
	case b.nodes > maxNodes:
		return fmt.Errorf("all files together have more than %d YAML nodes", maxNodes)
	}
	return nil
}

// CheckAliases returns an error if kubectl's decoder would refuse the aliases of a YAML text. It also returns an error
// if a value contains itself, or if aliases make copies of more than MaxFile bytes. CheckAliases also checks strings
// that contain YAML, because kustomize reads inline patches. A text that isn't YAML has no aliases.
func CheckAliases(text []byte) error {
	_, err := expand(text)
	return err
}

func expand(text []byte) (*expansion, error) {
	e := &expansion{within: map[*yaml.Node]bool{}}
	return e, e.text(text, 0)
}

// separators estimates the number of YAML nodes in a text without parsing it. Each node begins or ends with one of
// these characters.
func separators(text []byte) (count int) {
	for _, separator := range []string{"\n", ",", ":", "[", "{", "- "} {
		count += bytes.Count(text, []byte(separator))
	}
	return count
}

// nested is the depth of YAML in strings that kustomize reads. A kustomization can contain a transformer with a patch.
const nested = 2

// expansion counts nodes as go.yaml.in/yaml/v2 does (decode.go). kubectl's decoder uses that package.
type expansion struct {
	size    int // of the copies that aliases make, in bytes
	nodes   int // in these copies
	decoded int // nodes of the current document, of which aliased are from aliases
	aliased int
	within  map[*yaml.Node]bool // the anchors of the aliases around the current node
}

var (
	errExcessive = errors.New("yaml: document contains excessive aliasing")
	errTooLarge  = fmt.Errorf("the copies that YAML aliases make are larger than %d MiB", MaxFile>>20)
)

func (e *expansion) text(text []byte, depth int) error {
	if !bytes.ContainsRune(text, '*') || !bytes.ContainsRune(text, '&') {
		return nil
	}
	reader := kio.ByteReader{Reader: bytes.NewReader(text), OmitReaderAnnotations: true, DisableUnwrapping: true}
	documents, err := reader.Read()
	if err != nil {
		return nil //nolint:nilerr // it isn't YAML, or the reader of its objects reports the error
	}
	for _, document := range documents {
		e.decoded, e.aliased = 0, 0
		if err := e.node(document.YNode(), depth); err != nil {
			return err
		}
	}
	return nil
}

func (e *expansion) node(n *yaml.Node, depth int) error {
	e.decoded++
	if len(e.within) > 0 {
		e.aliased++
		e.nodes++
		e.size += len(n.Value)
	}
	if e.aliased > 100 && e.decoded > 1000 && float64(e.aliased) > float64(e.decoded)*allowedAliases(e.decoded) {
		return errExcessive
	}
	if e.size > MaxFile {
		return errTooLarge
	}
	switch n.Kind {
	case yaml.AliasNode:
		return e.alias(n, depth)
	case yaml.ScalarNode:
		if depth < nested && strings.Contains(n.Value, "&") {
			inner := expansion{size: e.size, nodes: e.nodes, within: map[*yaml.Node]bool{}}
			err := inner.text([]byte(n.Value), depth+1)
			e.size, e.nodes = inner.size, inner.nodes
			return err
		}
	}
	for _, child := range n.Content {
		if err := e.node(child, depth); err != nil {
			return err
		}
	}
	return nil
}

func (e *expansion) alias(n *yaml.Node, depth int) error {
	if e.within[n.Alias] {
		return fmt.Errorf("yaml: anchor '%s' value contains itself", n.Value)
	}
	e.within[n.Alias] = true
	defer delete(e.within, n.Alias)
	return e.node(n.Alias, depth)
}

func allowedAliases(decoded int) float64 {
	const low, high = 400_000, 4_000_000
	return 0.99 - 0.89*float64(min(max(decoded, low), high)-low)/(high-low)
}

// Within returns the result of read. If ctx ends first, Within returns the error of ctx, but read continues in the
// background, because reading a pipe can take forever.
func Within(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	var text []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err = read()
	}()
	select {
	case <-done:
		return text, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ReadFile returns the content of a regular file of at most MaxFile bytes and maxNodes YAML nodes.
func ReadFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(file, err)
}

// ReadIn is like ReadFile, for a file below root. It returns an error if a link leads out of that directory.
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

// AsUTF8 converts a text, which can be UTF-16 (IsUTF16), to UTF-8 as kubectl does. It removes the byte order mark and
// replaces invalid bytes.
func AsUTF8(text []byte) []byte {
	decoded, _, err := transform.Bytes(unicode.BOMOverride(unicode.UTF8.NewDecoder()), text)
	if err != nil { // the text ends within a UTF-16 character, which the parser reports
		return text
	}
	return decoded
}
