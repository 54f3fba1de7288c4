package audit

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func TestRetentionSetting(t *testing.T) {
	jobs, secrets := schema.GroupResource{Group: "batch", Resource: "jobs"}, schema.GroupResource{Resource: "secrets"}
	limit := "lower successfulJobsHistoryLimit and failedJobsHistoryLimit of the CronJob, or set activeDeadlineSeconds if its Jobs hang"
	for _, test := range []struct {
		of      schema.GroupResource
		names   int64
		owners  int64
		prefix  string
		creator v1alpha1.Creator
		want    string
	}{
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{Kind: "CronJob", Name: "nightly"}, limit},
		{jobs, 99, 1, "nightly-", v1alpha1.Creator{Kind: "CronJob", Name: "nightly"}, ""},
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{Manager: "CronJob"}, ""},
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{}, ""},
		{secrets, 28_000, 1, "sh.helm.release.v1.app.v", v1alpha1.Creator{Manager: "Helm"}, "set helm upgrade --history-max"},
		{jobs, 150, 75, "", v1alpha1.Creator{Kind: "CronJob"}, limit},
		{jobs, 149, 75, "", v1alpha1.Creator{Kind: "CronJob"}, ""}, // one Job each
		{secrets, 150, 150, "sh.helm.release.v1.app.v", v1alpha1.Creator{Manager: "Helm"}, ""},
		{pods, 404, 404, "", v1alpha1.Creator{Kind: "Job"}, "set ttlSecondsAfterFinished of the Jobs"},
		{secrets, 28_000, 1, "", v1alpha1.Creator{Manager: "Helm"}, ""}, // from charts
		{secrets, 28_000, 1, "sh.helm.release.v1.app.v", v1alpha1.Creator{Kind: "Helm"}, ""},
	} {
		if got := RetentionSetting(test.of, test.names, test.owners, test.prefix, test.creator); got != test.want {
			t.Errorf("%d %s of %+v: %q, want %q", test.names, test.of, test.creator, got, test.want)
		}
	}
}

// A prefix that is younger than a day has no forecast, unless it has many objects of the last ten minutes.
// A prefix whose names replicas limit has no forecast either.
func TestForecastOfYoungPrefixes(t *testing.T) {
	young := func(names, last10m, days int64) pools.Pool {
		p := pool("run-", names)
		p.Recent = recent(last10m, names)
		p.Oldest = began.Add(-time.Hour)
		if days > 0 {
			p.Oldest = began.Add(-2 * day)
		}
		return p
	}
	bounded := young(3000, 0, 2)
	bounded.ReplicaBounded = true
	machines := young(3000, 0, 2)
	machines.GroupResource = nodes
	stem := young(3000, 3000, 2)
	stem.Naming = object.ByStem
	for name, test := range map[string]struct {
		pool  pools.Pool
		close int64
	}{
		"young": {young(16, 16, 0), 0}, "old": {young(3000, 0, 2), 1}, "a storm": {young(3000, 3000, 0), 1},
		"replicas": {bounded, 0}, "Nodes": {machines, 0}, "a stem": {stem, 0},
	} {
		b := building(Config{Began: began}, test.pool)
		b.retriesOf = retries(1)
		if v := finish(t, b).Report.Verdict; v.CloseToFailing != test.close {
			t.Errorf("%s: %d close to failing, want %d", name, v.CloseToFailing, test.close)
		}
	}
}
