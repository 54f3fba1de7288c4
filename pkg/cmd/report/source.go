package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// subject has the populations of a report.
type subject struct {
	server      v1alpha1.CollisionServer
	populations []report.Population
	// warnings are about the counts, ready to be printed.
	warnings []string
	// nearest has the most similar prefix for each population. Only counted populations have one.
	nearest []pools.Near
	// stems has, for each population, the number of its names that end in a number, a time or a hash. Only counted
	// populations have it.
	stems []int64
}

// validateSource returns an error if sources of populations exclude each other, or if the only source is invalid.
func (o *options) validateSource() error {
	var given []string
	for _, source := range []struct {
		name  string
		given bool
	}{
		{"TYPE/PREFIX", len(o.prefixes) > 0},
		{"-f or -k", !cmdutil.IsFilenameSliceEmpty(o.manifests.Filenames, o.manifests.Kustomize)},
		{"--from", o.from != ""},
		{"--existing", o.existingGiven},
	} {
		if source.given {
			given = append(given, source.name)
		}
	}
	switch {
	case len(given) > 1:
		return fmt.Errorf("%s can't be used together, because each sets the number of existing names",
			strings.Join(given, " and "))
	case len(given) == 1 && !o.existingGiven && o.config.SuffixLength != names.SuffixLength:
		return fmt.Errorf("--suffix-length can't be used with counted names, because servers always use %d "+
			"characters", names.SuffixLength)
	}
	for _, argument := range o.prefixes {
		resource, prefix, ok := strings.Cut(argument, "/")
		if !ok || resource == "" || prefix == "" || strings.Contains(prefix, "/") {
			return fmt.Errorf("%q is not TYPE/PREFIX, like jobs/nightly-report-", argument)
		}
	}
	return nil
}

// subject takes the populations from the flags, from a saved audit, or from the cluster.
func (o *options) subject(ctx context.Context, s *scan.Session, objects *resource.Result) (subject, error) {
	switch {
	case o.from != "":
		return o.saved()
	case objects == nil && len(o.prefixes) == 0:
		retries := o.serverAttempts.Or(assumedRetries())
		return subject{
			server:      v1alpha1.CollisionServer{Retries: retries},
			populations: []report.Population{{Existing: o.existing, Server: retries}},
		}, nil
	}
	wanted, warnings, err := o.wanted(ctx, s, objects)
	if err = cmp.Or(err, o.validatePlot(len(wanted))); err != nil {
		return subject{warnings: warnings}, err
	}
	counted, err := count(ctx, s, wanted)
	if err != nil {
		return subject{}, err
	}
	counted.warnings = slices.Concat(warnings, counted.warnings, checkNamespaces(ctx, s, counted.populations))
	if len(o.prefixes) > 0 {
		counted.warnMissing()
	}
	return counted, nil
}

// wanted returns the prefixes of the arguments or of objects, and warnings about objects that are left out.
func (o *options) wanted(
	ctx context.Context, s *scan.Session, objects *resource.Result,
) (prefixes []wantedPrefix, warnings []string, err error) {
	if objects != nil {
		return prefixesOf(ctx, s, objects)
	}
	namespace, _, err := o.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, nil, err
	}
	for _, argument := range o.prefixes {
		word, generateName, _ := strings.Cut(argument, "/")
		wanted, err := wantedOf(ctx, s, word, namespace, generateName)
		if err != nil {
			return nil, nil, err
		}
		prefixes = append(prefixes, wanted)
	}
	return prefixes, nil, nil
}

func assumedRetries() v1alpha1.Retries {
	attempts := serverinfo.ServerAttempts
	return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceDefault}
}

func (o *options) saved() (subject, error) {
	data, err := o.readSaved()
	if err != nil {
		return subject{}, fmt.Errorf("--from: %w", err)
	}
	audit, err := v1alpha1.ReadAuditReport(data)
	if err != nil {
		return subject{}, fmt.Errorf("--from: %s %w", o.from, err)
	}
	audit.Items = slices.DeleteFunc(audit.Items, func(i v1alpha1.AuditItem) bool {
		return i.Naming == v1alpha1.NamingStem // its names aren't random
	})
	if len(audit.Items) == 0 {
		return subject{}, fmt.Errorf("--from: %s has no prefix. Save an audit with all prefixes:\n"+
			"  kubectl genname audit --min-count=1 --top=0 -o json", o.from)
	}
	s := subject{
		server: v1alpha1.CollisionServer{
			GitVersion: &audit.Server.GitVersion, Retries: o.serverAttempts.Or(audit.Server.Retries),
		},
	}
	for _, item := range audit.Items {
		item.Naming = "" // no two of the remaining rows differ only in this field
		s.populations = append(s.populations, report.Population{
			PrefixRef: item.PrefixRef, Existing: item.Names,
			Server: o.serverAttempts.Or(serversOwn(item.Retries, audit.Server.Retries)),
		})
	}
	if !audit.Complete {
		s.warnings = append(s.warnings, terminal.Warningf(
			"the audit was incomplete, so its counts and all chances are lower bounds"))
	}
	if inconsistent := audit.Summary.Inconsistent; len(inconsistent) > 0 {
		s.warnings = append(s.warnings, inconsistentCounts(inconsistent))
	}
	hidden := audit.Hidden.Prefixes // this number includes stems, which the report would omit, too
	for _, f := range audit.Folded {
		if f.Largest != nil && f.Largest.Naming != v1alpha1.NamingStem {
			hidden += f.Prefixes
		}
	}
	if hidden > 0 {
		s.warnings = append(s.warnings, terminal.Warningf("the report leaves out up to %s, because the audit "+
			"hid them. Save the next audit with all prefixes:\n"+
			"  kubectl genname audit --min-count=1 --top=0 -o json", humanize.Count(hidden, "prefix")))
	}
	return s, o.validatePlot(len(s.populations))
}

// serversOwn returns the server's attempts for a prefix of an audit. If kubectl genname create fills the prefix, the
// audit has the attempts of that command instead.
func serversOwn(item, server v1alpha1.Retries) v1alpha1.Retries {
	client := item.Attempts != nil && *item.Attempts == names.DefaultAttempts
	if client && item.AttemptsSource == v1alpha1.SourceDefault {
		return server
	}
	return item
}

func inconsistentCounts(types []string) string {
	return terminal.Warningf("inconsistent counts of %s. Their lists expired, so objects "+
		"created or deleted during the count might be missing or included", strings.Join(types, ", "))
}

func (o *options) readSaved() ([]byte, error) {
	if o.from == "-" {
		return io.ReadAll(o.In)
	}
	return os.ReadFile(o.from)
}

// checkNamespaces returns warnings about the namespaces that don't exist.
func checkNamespaces(ctx context.Context, s *scan.Session, populations []report.Population) (warnings []string) {
	checked := map[string]bool{"": true}
	for _, p := range populations {
		if p.Existing > 0 || checked[p.Namespace] {
			continue
		}
		checked[p.Namespace] = true
		if _, err := s.Cluster.CheckNamespace(ctx, p.Namespace); apierrors.IsNotFound(err) {
			warnings = append(warnings, terminal.Warningf("%v", err))
		}
	}
	return warnings
}

// warnMissing adds warnings about named prefixes without any names, because they may be misspelled.
func (s *subject) warnMissing() {
	for i, p := range s.populations {
		if p.Existing > 0 {
			continue
		}
		resource := p.GroupResource()
		if names := s.stems[i]; names > 0 {
			s.warnings = append(s.warnings, terminal.Warningf("the report leaves out %s of %s/%s, because numbers, "+
				"times and hashes are not random", humanize.Count(names, "name"), resource, p.Prefix))
			continue
		}
		if near := s.nearest[i]; near.Prefix != "" {
			lines := scan.Nearest("no name", resource.String()+"/"+p.Prefix, p.Namespace, near)
			lines[0] = terminal.Warningf("%s", lines[0])
			s.warnings = append(s.warnings, lines...)
			continue
		}
		warning := terminal.Warningf(
			"no object of %s has the prefix %s. A prefix is a whole generateName: is a '-' missing?",
			resource, p.Prefix)
		if p.Namespace != "" {
			warning = terminal.Warningf("no object of %s in namespace %s has the prefix %s. A prefix is a "+
				"whole generateName: is a '-' missing, or is it in another namespace?", resource, p.Namespace, p.Prefix)
		}
		search := terminal.Hint("kubectl", "genname", "audit", resource.String()+"/"+p.Prefix, "-A")
		s.warnings = append(s.warnings, warning+"\n"+search)
	}
}

// objects returns the objects of -f or -k, which are not read yet, or nil without these flags. objects returns an error
// if the flags are invalid.
func (o *options) objects(ctx context.Context) (*resource.Result, error) {
	if cmdutil.IsFilenameSliceEmpty(o.manifests.Filenames, o.manifests.Kustomize) {
		return nil, nil
	}
	namespace, enforce, err := o.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	builder := o.factory.NewBuilder().
		Unstructured().
		NamespaceParam(namespace).DefaultNamespace()
	builder, err = manifest.FilenameParam(ctx, builder, enforce, &o.manifests)
	if err != nil {
		return nil, err
	}
	objects := builder.Flatten().Do()
	return objects, objects.Err()
}

// prefixesOf returns the prefixes of objects, each once, and warnings about objects that are left out, because the
// server generates no name for them.
func prefixesOf(
	ctx context.Context, s *scan.Session, objects *resource.Result,
) (prefixes []wantedPrefix, warnings []string, err error) {
	err = objects.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		object := info.Object.(*unstructured.Unstructured)
		if object.GetName() != "" || object.GetGenerateName() == "" {
			warnings = append(warnings,
				terminal.Warningf("%s: skipped %s, because %s",
					info.Source, info.ObjectName(), whyNotGenerated(object)))
			return nil
		}
		gvr := info.Mapping.Resource
		word := strings.Join([]string{gvr.Resource, gvr.Version, gvr.Group}, ".")
		wanted, err := wantedOf(ctx, s, word, info.Namespace, names.EffectivePrefix(object.GetGenerateName()))
		if err == nil && !slices.Contains(prefixes, wanted) {
			prefixes = append(prefixes, wanted)
		}
		return err
	})
	if err == nil && len(prefixes) == 0 {
		err = errors.New("there is nothing to report on, because no object in the input has a generateName and no name")
	}
	return prefixes, warnings, err
}

func whyNotGenerated(object *unstructured.Unstructured) string {
	if object.GetGenerateName() == "" {
		return "it has no generateName"
	}
	return "it has a name, so the server ignores its generateName"
}
