package serverinfo

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// ServerAttempts is the maximum number of names that a server with retries attempts per create
// (maxNameGenerationCreateAttempts in k8s.io/apiserver 0.30 to 0.37, pkg/registry/generic/registry/store.go).
const ServerAttempts = 8

// These are minor versions of Kubernetes 1. In the range, the feature gate RetryGenerateName can be on or off
// (KEP-4420). Earlier versions have no retries. In later versions, the gate is locked or gone. 1.32 to 1.34 are
// included because they unlock the gate if they emulate 1.31. 1.33 and 1.34 report the emulated version in /version
// (k8s.io/apiserver 0.33, pkg/server/config.go, EffectiveVersion.Info).
const (
	firstGatedMinor  = 30
	firstOnByDefault = 31
	firstLockedMinor = 32 // compared with the emulated version
	lastGatedMinor   = 34
	gateSeries       = `kubernetes_feature_enabled{name="RetryGenerateName",`
)

func unknownRetries() v1alpha1.Retries {
	return v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown}
}

func knownRetries(on bool, source v1alpha1.AttemptsSource) v1alpha1.Retries {
	attempts := 1
	if on {
		attempts = ServerAttempts
	}
	return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: source}
}

// decide returns the retries of a server of the given version. If the version alone is not enough, decide calls gate.
// gate returns whether the feature gate is on. ok is false if the metric of the gate can't be read.
func decide(info *version.Info, gate func() (on, ok bool)) v1alpha1.Retries {
	minor, ok := minorVersion(info.Major, info.Minor)
	emulated, emulates := minorVersion(info.EmulationMajor, info.EmulationMinor)
	switch {
	case !ok:
		return unknownRetries()
	case minor < firstGatedMinor:
		return knownRetries(false, v1alpha1.SourceVersion)
	case minor > lastGatedMinor, emulates && emulated >= firstLockedMinor:
		return knownRetries(true, v1alpha1.SourceVersion)
	}
	if on, ok := gate(); ok {
		return knownRetries(on, v1alpha1.SourceMetric)
	}
	return knownRetries(minor >= firstOnByDefault, v1alpha1.SourceDefault)
}

// minorVersion returns the minor version of a Kubernetes 1 server. Vendors append text to it ("30+"). ok is false if
// the minor version isn't a number, or the major version isn't 1. The version of the binary is the version of its code,
// even if it emulates another version.
func minorVersion(major, text string) (minor int, ok bool) {
	minor, err := strconv.Atoi(strings.TrimRight(text, "+"))
	return minor, err == nil && major == "1"
}

// gateTimeout is the time limit for the request of the metrics. An audit doesn't wait longer, because the metrics only
// make the number of attempts more certain.
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

// readGate returns whether the feature gate is on according to a scrape of /metrics. ok is false if the scrape doesn't
// have the gate. Each line of a scrape has one number, and its labels are sorted by name.
func readGate(scrape io.Reader) (on, ok bool) {
	for lines := bufio.NewScanner(scrape); lines.Scan(); {
		if series, value, _ := strings.Cut(lines.Text(), " "); strings.HasPrefix(series, gateSeries) {
			return value == "1", value == "1" || value == "0"
		}
	}
	return false, false
}
