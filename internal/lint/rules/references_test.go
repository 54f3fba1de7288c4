package rules

import (
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Every field that refers to another object is found, at its own place.
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

// A backend of another kind isn't a Service. A Service of another namespace is another Service.
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
