package stem_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/stem"
)

func TestOf(t *testing.T) {
	const uuid, sha1 = "0d1ff2bb-1f5f-4c4e-9e39-3b2d1a0c9f11", "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	for name, want := range map[string]stem.Stem{
		"": {}, "-": {}, "-1": {}, "web": {}, "kube-root-ca.crt": {}, "-20261128": {}, "v3": {}, "1": {},
		"nightly-29931409":                 {"nightly-", "29931409", stem.Number},
		"web-0":                            {"web-", "0", stem.Number},
		"ip-10-0-0-1":                      {"ip-10-0-0-", "1", stem.Number},
		"node.12":                          {"node.", "12", stem.Number},
		"web-0a":                           {},
		"web-":                             {},
		"sh.helm.release.v1.shop.v3":       {"sh.helm.release.v1.shop.v", "3", stem.Revision},
		"shop-v12":                         {"shop-v", "12", stem.Revision},
		"shop-v":                           {},
		"shop-v1a":                         {},
		"shop-rev3":                        {},
		"web-7d4b9c6f5d":                   {"web-", "7d4b9c6f5d", stem.SafeHash},
		"web-bcdfghjk":                     {}, // no digit
		"web-bcdfgh2":                      {}, // seven
		"web-bcdfghjklm2":                  {}, // eleven
		"web-x7k2p":                        {}, // a client-generated name
		"web-v2456789":                     {"web-", "v2456789", stem.SafeHash},
		"ci-3f9a01bc":                      {"ci-", "3f9a01bc", stem.Hash},
		"ci-deadbeef":                      {}, // a word
		"ci-3F9A01BC":                      {},
		"ci-" + sha1[:31]:                  {"ci-", sha1[:31], stem.Hash},
		"ci-" + sha1[:32]:                  {"ci-", sha1[:32], stem.Digest},
		"ci-" + sha1[:33]:                  {},
		"ci-" + sha1:                       {"ci-", sha1, stem.Digest},
		"ci." + strings.Repeat("a", 64):    {"ci.", strings.Repeat("a", 64), stem.Digest},
		"pvc-" + uuid:                      {"pvc-", uuid, stem.UUID},
		uuid:                               {"", uuid, stem.UUID},
		"-" + uuid:                         {"-0d1ff2bb-1f5f-4c4e-9e39-", "3b2d1a0c9f11", stem.Hash},
		"backup-2026-11-28":                {"backup-", "2026-11-28", stem.Time},
		"backup-20261128":                  {"backup-", "20261128", stem.Time},
		"backup.2026-11-28t10-30-00z":      {"backup.", "2026-11-28t10-30-00z", stem.Time},
		"backup-2026-11-29-10-30":          {"backup-", "2026-11-29-10-30", stem.Time},
		"backup-2026-11-28.10.30.00.123":   {"backup-", "2026-11-28.10.30.00.123", stem.Time},
		"velero-daily-20261128030000":      {"velero-daily-", "20261128030000", stem.Time},
		"backup-20261128-1030":             {"backup-", "20261128-1030", stem.Time},
		"backup-2026-1128":                 {"backup-2026-", "1128", stem.Number},
		"backup-2026-13-28":                {"backup-2026-13-", "28", stem.Number},
		"backup-20261128-9930":             {"backup-20261128-", "9930", stem.Number},
		"backup-2026-11-28-x":              {},
		"copy-2026-11-27-2026-11-28":       {"copy-2026-11-27-", "2026-11-28", stem.Time},
		"backup-2026-11-28t10-30-00.1234z": {"backup-", "2026-11-28t10-30-00.1234z", stem.Time},
	} {
		if got := stem.Of(name); got != want {
			t.Errorf("%q has the stem %+v, want %+v", name, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		x, y string
		want int
	}{
		{"a-9", "a-10", -1},
		{"a-v10", "a-v9", 1},
		{"a-007", "a-7", 0},
		{"a-99999999999999999999998", "a-99999999999999999999999", -1},
		{"a-2026-11-28", "a-2026-11-27", 1},
		{"a-7d4b9c6f5d", "a-8d4b9c6f5d", 0},
		{"a-3f9a01bc", "a-1", 0},
	} {
		if got := stem.Compare(stem.Of(test.x), stem.Of(test.y)); got != test.want {
			t.Errorf("%s and %s: %d, want %d", test.x, test.y, got, test.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "-", "a-1", "a-v1", "a-2026-11-28t10-30-00z", "ä.20261128", "a-7d4b9c6f5d"} {
		f.Add(seed, "a-2")
	}
	f.Fuzz(func(t *testing.T, name, another string) {
		s, other := stem.Of(name), stem.Of(another)
		if got := stem.Compare(s, other); got != -stem.Compare(other, s) || cmp.Compare(got, 0) != got {
			t.Errorf("%q and %q: %d, and not its opposite the other way round", name, another, got)
		}
		if s.Kind == stem.None {
			if s != (stem.Stem{}) {
				t.Errorf("%q has no stem, but %+v", name, s)
			}
			return
		}
		last := strings.TrimSuffix(s.Prefix, "v")
		switch {
		case s.Prefix+s.End != name || s.End == "":
			t.Errorf("%q is not %+v", name, s)
		case s.Prefix == "" && s.Kind == stem.UUID:
		case len(last) < 2 || !strings.ContainsAny(last[len(last)-1:], "-."):
			t.Errorf("%q has the prefix %q", name, s.Prefix)
		case stem.Of(s.Prefix+s.End) != s:
			t.Errorf("%q has two stems", name)
		}
	})
}

func ExampleOf() {
	fmt.Println(stem.Of("nightly-29931409").Prefix)
	fmt.Println(stem.Of("sh.helm.release.v1.shop.v3").Prefix)
	// Output:
	// nightly-
	// sh.helm.release.v1.shop.v
}
