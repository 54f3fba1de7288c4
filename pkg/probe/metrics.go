package probe

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// askGate asks for the feature gate. It is false for ok if /metrics may not be
// read.
func askGate(ctx context.Context, client *rest.RESTClient) (on, ok bool) {
	scrape, err := client.Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return false, false
	}
	defer func() { _ = scrape.Close() }()
	return readGate(scrape)
}

// readGate finds the feature gate in a scrape of /metrics. The scrape is
// several megabytes, so only the lines of the one metric are parsed.
func readGate(scrape io.Reader) (on, ok bool) {
	var lines bytes.Buffer
	scanner := bufio.NewScanner(scrape)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if bytes.HasPrefix(scanner.Bytes(), []byte(featureGateMetric+"{")) {
			lines.Write(scanner.Bytes())
			lines.WriteByte('\n')
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&lines)
	if scanner.Err() != nil || err != nil {
		return false, false
	}
	for _, metric := range families[featureGateMetric].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == featureGateNameAttr && label.GetValue() == featureGate {
				return metric.GetUntyped().GetValue() == 1, true
			}
		}
	}
	return false, false
}
