package experiment

import (
	"context"
	"fmt"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FirstFailures creates objects under new prefixes. It stops under each prefix after the first create that fails. It
// returns the number of creates under each prefix, including the one that failed. A create consists of up to the
// given number of POSTs, until one creates an object.
func (s *Server) FirstFailures(ctx context.Context, prefixes, attempts int) ([]int, error) {
	creates := make([]int, prefixes)
	err := underEach(ctx, fmt.Sprintf("first-%d", attempts), prefixes, func(ctx context.Context, i int, prefix string) error {
		for name := "?"; name != ""; creates[i]++ {
			var err error
			if name, err = s.create(ctx, prefix, attempts); err != nil {
				return err
			}
		}
		return nil
	})
	return creates, err
}

// Failures returns the number of failed creates for each population, a number of existing names of a prefix. The
// populations must rise. For each of them, it makes the given number of creates under each prefix. It deletes a
// created object before the next create, so that all creates of a population have the same chance.
func (s *Server) Failures(ctx context.Context, populations []int, prefixes, creates int) ([]int, error) {
	failures := make([][]int, prefixes)
	err := underEach(ctx, "rate", prefixes, func(ctx context.Context, i int, prefix string) (err error) {
		failures[i], err = s.failures(ctx, prefix, populations, creates)
		return err
	})
	sum := make([]int, len(populations))
	for _, some := range failures {
		for i, n := range some {
			sum[i] += n
		}
	}
	return sum, err
}

func (s *Server) failures(ctx context.Context, prefix string, populations []int, creates int) ([]int, error) {
	failures := make([]int, len(populations))
	existing := 0
	for i, population := range populations {
		if err := s.fill(ctx, prefix, existing, population); err != nil {
			return nil, err
		}
		existing = population
		for range creates {
			name, err := s.create(ctx, prefix, 1)
			switch {
			case err != nil:
				return nil, err
			case name == "":
				failures[i]++
			default:
				err = s.secrets.Delete(ctx, name, metav1.DeleteOptions{})
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return failures, nil
}

// Attempts returns the number of names that the server tries in one create that fails. It creates objects under a prefix
// whose names all exist, and counts the writes to etcd in the server's metrics.
func (s *Server) Attempts(ctx context.Context) (int, error) {
	const creates = 10
	if err := s.fill(ctx, "full-", 0, Names); err != nil {
		return 0, err
	}
	before, err := s.writes(ctx)
	if err != nil {
		return 0, err
	}
	for range creates {
		name, err := s.create(ctx, "full-", 1)
		if err != nil {
			return 0, err
		}
		if name != "" {
			return 0, fmt.Errorf("%s was made of a full prefix", name)
		}
	}
	after, err := s.writes(ctx)
	if err != nil {
		return 0, err
	}
	if (after-before)%creates != 0 {
		return 0, fmt.Errorf("%d creates tried %d names", creates, after-before)
	}
	return (after - before) / creates, nil
}

// writes returns the number of Secrets that the server has tried to write to etcd (k8s.io/apiserver,
// pkg/storage/etcd3/metrics).
func (s *Server) writes(ctx context.Context) (int, error) {
	const metric = "etcd_requests_total"
	scrape, err := s.metrics.Get().AbsPath("/metrics").SetHeader("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain))).Stream(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _, _ = io.Copy(io.Discard, scrape); _ = scrape.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(scrape)
	if err != nil {
		return 0, err
	}
	for _, m := range families[metric].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["operation"] == "create" && labels["resource"] == "secrets" {
			return int(m.GetCounter().GetValue()), nil
		}
	}
	return 0, fmt.Errorf("the server has no metric %s of Secrets", metric)
}
