package manifest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/cli-runtime/pkg/resource"

	lint "github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

const (
	stdin = "STDIN" // as kubectl names it
	// maxText is the largest text that is checked. maxPage and pageTimeout limit the request for a page.
	maxText     = 16 << 20
	maxPage     = 1 << 20
	pageTimeout = 5 * time.Second
)

// Texts finds text in the files of -f that kubectl's reader ignores or changes, although it reports no error.
type Texts struct {
	// Warn gets a warning for each place that has such text.
	Warn func(text string)

	stdin strings.Builder
	last  string // the file of the last document
}

// FilenameParam calls the function FilenameParam, and also keeps the text of stdin.
func (t *Texts) FilenameParam(
	ctx context.Context, b *resource.Builder, in io.Reader, o *resource.FilenameOptions,
) (*resource.Builder, error) {
	if o.Kustomize != "" {
		return FilenameParam(ctx, b, false, o)
	}
	for _, name := range o.Filenames {
		if name != "-" {
			b = b.FilenameParam(false, &resource.FilenameOptions{Filenames: []string{name}, Recursive: o.Recursive})
			continue
		}
		decoded := transform.NewReader(io.TeeReader(in, t), unicode.BOMOverride(unicode.UTF8.NewDecoder()))
		b = b.StdinInUse().Stream(decoded, stdin)
	}
	return b, nil
}

// Write takes the next part of stdin.
func (t *Texts) Write(text []byte) (int, error) {
	t.stdin.Write(text[:min(len(text), maxText+1-t.stdin.Len())])
	return len(text), nil
}

// Read records the source of the next document. When all documents of a source have been read, it checks the text. The
// source after the last one is "".
func (t *Texts) Read(source string) {
	if t.last == source {
		return
	}
	for _, lost := range lint.Lost(t.text(t.last)) {
		t.Warn(fmt.Sprintf("%s:%d: %v.", t.last, lost.Line, lost.Err))
	}
	t.last = source
}

// text returns the text of stdin or of a regular file. It is empty if the text is too long.
func (t *Texts) text(source string) []byte {
	if source == stdin {
		if t.stdin.Len() > maxText {
			return nil
		}
		return []byte(t.stdin.String())
	}
	text, err := untrusted.ReadFile(source)
	if err != nil {
		return nil
	}
	return text
}

// Explain adds to an error of reading that a file or URL of -f has a web page instead of a manifest.
func (t *Texts) Explain(ctx context.Context, err error, sources []string) error {
	for _, source := range sources {
		text := t.text(source)
		if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
			text = page(ctx, source)
		}
		if strings.Contains(err.Error(), source) && lint.IsHTML(text) {
			return fmt.Errorf("%w\n%s is %w", err, source, lint.ErrHTML)
		}
	}
	return err
}

// page returns the beginning of the web page at url, or nothing.
func page(ctx context.Context, url string) []byte {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxPage)) // a part shows enough
	return text
}
