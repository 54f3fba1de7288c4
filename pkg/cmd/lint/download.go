package lint

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A URL is read as kubectl reads it. A response of 500 or above is requested again.
const (
	downloadAttempts = 3
	downloadPause    = time.Second
	downloadTimeout  = time.Minute
)

// download returns the content of a URL.
func download(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		content, again, err := get(ctx, url)
		if err == nil || !again || attempt == downloadAttempts {
			return content, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(downloadPause):
		}
	}
}

// get requests a URL once, and reports whether another attempt can help.
func get(ctx context.Context, url string) (content []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, true, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		again = response.StatusCode >= http.StatusInternalServerError
		return nil, again, fmt.Errorf("unable to read URL %q, server reported %s", url, response.Status)
	}
	content, err = io.ReadAll(response.Body)
	return content, true, err
}
