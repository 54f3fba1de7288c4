package experiment

import (
	"context"
	"fmt"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FirstConflicts creates objects under so many new prefixes, each until a
// create fails, and returns the number of creates up to and including that one.
// A create is so many attempts (POSTs), until one makes an object.
func (s *Server) FirstConflicts(ctx context.Context, prefixes, attempts int) ([]int, error) {
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

// Conflicts returns, for each of the populations, which rise, how many creates
// failed while so many names of a prefix existed: so many creates under each of
// so many prefixes. An object that is made is deleted before the next, so that
// all creates of a population have the same chance.
func (s *Server) Conflicts(ctx context.Context, populations []int, prefixes, creates int) ([]int, error) {
	conflicts := make([][]int, prefixes)
	err := underEach(ctx, "rate", prefixes, func(ctx context.Context, i int, prefix string) (err error) {
		conflicts[i], err = s.conflicts(ctx, prefix, populations, creates)
		return err
	})
	sum := make([]int, len(populations))
	for _, some := range conflicts {
		for i, n := range some {
			sum[i] += n
		}
	}
	return sum, err
}

func (s *Server) conflicts(ctx context.Context, prefix string, populations []int, creates int) ([]int, error) {
	conflicts := make([]int, len(populations))
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
				conflicts[i]++
			default:
				err = s.secrets.Delete(ctx, name, metav1.DeleteOptions{})
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return conflicts, nil
}

// Tries returns how many names the server tries in one create that fails: it
// creates objects under a prefix whose names all exist, and counts the writes
// to etcd that the server says it made.
func (s *Server) Tries(ctx context.Context) (int, error) {
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

// writes returns how many Secrets the server tried to put into etcd so far
// (k8s.io/apiserver, pkg/storage/etcd3/metrics).
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
