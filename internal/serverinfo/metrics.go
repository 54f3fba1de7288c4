package serverinfo

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// gateTimeout is the time limit for the request of the metrics. The metrics only make the number of attempts more
// certain, so an audit doesn't wait longer.
const gateTimeout = 10 * time.Second

// askGate gets the state of the feature gate from /metrics. ok is false if the user has no permission, or the server
// is too busy.
func askGate(ctx context.Context, client *rest.RESTClient) (on, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	scrape, err := client.Get().MaxRetries(0).AbsPath("/metrics").SetHeader("Accept", "text/plain").Stream(ctx)
	if err != nil {
		return false, false
	}
	defer func() { _ = scrape.Close() }()
	return readGate(scrape)
}

// readGate returns whether the feature gate is on in a scrape of /metrics. ok is false if the scrape doesn't have the
// gate. A line of a scrape is one number. Its labels are sorted by their names.
func readGate(scrape io.Reader) (on, ok bool) {
	for lines := bufio.NewScanner(scrape); lines.Scan(); {
		if series, value, _ := strings.Cut(lines.Text(), " "); strings.HasPrefix(series, gateSeries) {
			return value == "1", value == "1" || value == "0"
		}
	}
	return false, false
}
