package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The rule finds every field that refers to another object, and reports the field's own position.
func TestReferenceFields(t *testing.T) {
	const (
		secret         = "apiVersion: v1\nkind: Secret"
		service        = "apiVersion: v1\nkind: Service"
		claim          = "apiVersion: v1\nkind: PersistentVolumeClaim"
		volume         = "apiVersion: v1\nkind: PersistentVolume"
		snapshot       = "apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot"
		priorityClass  = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass"
		storageClass   = "apiVersion: storage.k8s.io/v1\nkind: StorageClass"
		serviceAccount = "apiVersion: v1\nkind: ServiceAccount"
		pod            = "apiVersion: v1\nkind: Pod"
		route          = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute"
	)
	for name, test := range map[string]struct{ to, from, field string }{
		"clone of a PVC":               {claim, claim, "spec: {dataSource: {kind: PersistentVolumeClaim, name: x-}}"},
		"PVC from a snapshot":          {snapshot, claim, "spec: {dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: x-}}"},
		"PVC from a reference":         {snapshot, claim, "spec: {dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: x-}}"},
		"PVC of a storage class":       {storageClass, claim, "spec: {storageClassName: x-}"},
		"PVC of a volume":              {volume, claim, "spec: {volumeName: x-}"},
		"secret of a service account":  {secret, serviceAccount, "secrets: [{name: x-}]"},
		"image pull secret of account": {secret, serviceAccount, "imagePullSecrets: [{name: x-}]"},
		"image pull secret of a Pod":   {secret, pod, "spec: {imagePullSecrets: [{name: x-}]}"},
		"priority class of a Pod":      {priorityClass, pod, "spec: {priorityClassName: x-}"},
		"priority class of a Job": {
			priorityClass, "apiVersion: batch/v1\nkind: Job", "spec: {template: {spec: {priorityClassName: x-}}}",
		},
		"validating webhook": {
			service, "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration",
			"webhooks: [{clientConfig: {service: {name: x-, namespace: shop}}}]",
		},
		"mutating webhook": {
			service, "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration",
			"webhooks: [{clientConfig: {service: {name: x-, namespace: shop}}}]",
		},
		"conversion webhook": {
			service, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition",
			"spec: {conversion: {webhook: {clientConfig: {service: {name: x-, namespace: shop}}}}}",
		},
		"APIService": {
			service, "apiVersion: apiregistration.k8s.io/v1\nkind: APIService", "spec: {service: {name: x-, namespace: shop}}",
		},
		"HTTPRoute":                  {service, route, "spec: {rules: [{backendRefs: [{name: x-, port: 80}]}]}"},
		"HTTPRoute with a kind":      {service, route, "spec: {rules: [{backendRefs: [{kind: Service, name: x-, port: 80}]}]}"},
		"HTTPRoute with a namespace": {service, route, "spec: {rules: [{backendRefs: [{name: x-, namespace: shop}]}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			text := test.to + "\nmetadata: {generateName: x-, namespace: shop}\n---\n" +
				test.from + "\nmetadata: {name: a, namespace: shop}\n" + test.field + "\n"
			found := check(t, referenceByPrefix, text, Tree{})
			if len(found) != 1 || found[0].Level != v1alpha1.LintError || found[0].Position().Line != 8 {
				t.Errorf("%+v in\n%s", found, text)
			}
		})
	}
}

// A backend of another kind isn't a Service. A Service of another namespace is a different Service.
func TestNoReferences(t *testing.T) {
	const service = "apiVersion: v1\nkind: Service\nmetadata: {generateName: x-, namespace: shop}\n---\n"
	const route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a, namespace: shop}\n"
	for _, backend := range []string{
		"{group: net.gke.io, kind: ServiceImport, name: x-}",
		"{group: example.com, kind: Service, name: x-}",
		"{name: x-, namespace: payments}",
	} {
		text := service + route + "spec: {rules: [{backendRefs: [" + backend + "]}]}\n"
		if found := check(t, referenceByPrefix, text, Tree{}); len(found) != 0 {
			t.Errorf("%+v in\n%s", found, text)
		}
	}
}

// The server removes the namespace of a cluster-scoped object. So lint ignores it.
func TestNamespaceOfClusterScopedObject(t *testing.T) {
	const (
		class     = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {namespace: kube-system, "
		pod       = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec: {priorityClassName: fast}\n"
		crd       = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: farms.example.com}\n"
		scope     = "spec: {group: example.com, scope: Cluster, names: {kind: Farm}}\n---\n"
		farm      = "apiVersion: example.com/v1\nkind: Farm\nmetadata: {namespace: kube-system, "
		claim     = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a, namespace: shop}\n"
		source    = "spec: {dataSourceRef: {apiGroup: example.com, kind: Farm, name: x}}\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {generateName: kube-system}\n---\n"
	)
	for name, text := range map[string]string{
		"the object exists":              class + "name: fast}\n---\n" + class + "generateName: fast-}\n---\n" + pod,
		"the custom object exists":       crd + scope + farm + "name: x}\n---\n" + farm + "generateName: x-}\n---\n" + claim + source,
		"it refers to no Namespace":      namespace + class + "name: fast}\n",
		"a custom object refers to none": crd + scope + namespace + farm + "name: x}\n",
	} {
		if found := check(t, referenceByPrefix, text, Tree{}); len(found) != 0 {
			t.Errorf("%s: %+v in\n%s", name, found, text)
		}
	}
	dangling := crd + scope + farm + "generateName: x-}\n---\n" + claim + source
	if found := check(t, referenceByPrefix, dangling, Tree{}); len(found) != 1 {
		t.Errorf("%+v in\n%s", found, dangling)
	}
}

// Two files can be for two clusters. The same namespace in two cluster-scoped manifests doesn't show that they are for
// the same cluster.
func TestTruncatedClusterScopedPrefixes(t *testing.T) {
	var facts Facts
	for i, place := range []string{"namespace: kube-system, ", ""} {
		text := fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {%sgenerateName: %s%d-}\n", place, strings.Repeat("x", 60), i)
		objects, _ := manifest.Read([]byte(text))
		facts.Add(NewManifest(objects[0], fmt.Sprintf("%d.yaml", i), Tree{}))
	}
	for _, f := range truncatedPrefix.Compare(NewInput(newest, facts)) {
		if f.Level != v1alpha1.LintWarning {
			t.Errorf("%+v, want a %s", f, v1alpha1.LintWarning)
		}
	}
}
