package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Clientset returns an administrator's client.
func Clientset(t *testing.T, cp *controlplane.ControlPlane) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Namespace creates a namespace for the test.
func Namespace(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	namespaces := Clientset(t, cp).CoreV1().Namespaces()
	return Generated(t, func() (metav1.Object, error) {
		return namespaces.Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	})
}

// Generated returns the name of the object that create creates. Generated retries after a conflict. With 300 names
// and a server without retries, one of 320 runs has a conflict.
func Generated(t *testing.T, create func() (metav1.Object, error)) string {
	t.Helper()
	var err error
	for range 5 {
		var made metav1.Object
		if made, err = create(); err == nil {
			return made.GetName()
		} else if !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	t.Fatal(err)
	return ""
}

// UntilServed waits until a namespaced resource type of a CustomResourceDefinition or an aggregated API server is
// served. Clients can list the type before they can discover it, so it waits for both.
func UntilServed(t *testing.T, cp *controlplane.ControlPlane, resource schema.GroupVersionResource) {
	t.Helper()
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		if _, err := client.Resource(resource).Namespace("default").List(t.Context(), metav1.ListOptions{}); err != nil {
			return err
		}
		_, lists, err := Clientset(t, cp).Discovery().ServerGroupsAndResources()
		if err != nil {
			return err
		}
		found, err := discovery.GroupVersionResources(lists)
		if _, ok := found[resource]; err == nil && !ok {
			err = fmt.Errorf("%s cannot be discovered", resource)
		}
		return err
	})
}

// ConfigMaps lists the ConfigMaps of a namespace.
func ConfigMaps(t *testing.T, cp *controlplane.ControlPlane, namespace string) []corev1.ConfigMap {
	t.Helper()
	list, err := Clientset(t, cp).CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// ExpectConfigMaps fails the test unless a namespace has n ConfigMaps.
func ExpectConfigMaps(t *testing.T, cp *controlplane.ControlPlane, namespace string, n int) {
	t.Helper()
	if found := ConfigMaps(t, cp, namespace); len(found) != n {
		t.Errorf("%d objects are there, want %d", len(found), n)
	}
}

// Grant binds verbs on resources in a namespace to the user called name, and waits until the permissions are
// effective.
func Grant(t *testing.T, cp *controlplane.ControlPlane, namespace, name string, verbs []string, resources ...string) {
	t.Helper()
	rbac := Clientset(t, cp).RbacV1()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: resources, Verbs: verbs}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{Kind: "Role", APIGroup: rbacv1.GroupName, Name: name},
	}
	_, err := rbac.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{})
	_, err2 := rbac.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for _, resource := range resources {
		UntilAllowed(t, cp, name, authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verbs[0], Resource: resource})
	}
}

// UntilAllowed waits until the server applies a new permission, which takes a moment.
func UntilAllowed(t *testing.T, cp *controlplane.ControlPlane, user string, right authorizationv1.ResourceAttributes) {
	t.Helper()
	reviews := Clientset(t, cp).AuthorizationV1().SubjectAccessReviews()
	Eventually(t, func() error {
		review, err := reviews.Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right},
		}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = fmt.Errorf("%s may not %s %s", user, right.Verb, right.Resource)
		}
		return err
	})
}

// Eventually repeats try until it succeeds, for at least a minute. Eventually counts attempts and doesn't measure the
// time, because the machine might be paused.
func Eventually(t *testing.T, try func() error) {
	t.Helper()
	if err := eventually(try); err != nil {
		t.Fatal(err)
	}
}

// eventually returns the error of the last attempt, or nil if an attempt succeeded.
func eventually(attempt func() error) (err error) {
	for range 600 {
		if err = attempt(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// Quota limits the ConfigMaps in a namespace that has none. No controller runs here, so Quota itself sets the used
// number in the status. Because admission caches quotas, Quota sets a full status and then an empty one. When admission
// refuses an object and later allows one, its cache has the last status.
func Quota(t *testing.T, cp *controlplane.ControlPlane, namespace, name string, most int64) {
	t.Helper()
	core := Clientset(t, cp).CoreV1()
	hard := corev1.ResourceList{"count/configmaps": *resource.NewQuantity(most, resource.DecimalSI)}
	quota, err := core.ResourceQuotas(namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range []int64{most, 0} {
		quota.Status = corev1.ResourceQuotaStatus{
			Hard: hard, Used: corev1.ResourceList{"count/configmaps": *resource.NewQuantity(used, resource.DecimalSI)},
		}
		if quota, err = core.ResourceQuotas(namespace).UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		Eventually(t, func() error {
			_, err := core.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "try"}},
				metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if refused := apierrors.IsForbidden(err); refused != (used == most) {
				return errors.Join(errors.New("admission does not know the quota"), err)
			}
			return nil
		})
	}
}

// FinishJob writes the status of a Job that has ended, as the Job controller does, unless the Job was deleted. end is
// JobComplete or JobFailed.
func FinishJob(
	ctx context.Context, client kubernetes.Interface, job *batchv1.Job, end batchv1.JobConditionType, at time.Time,
) error {
	// A test can end before the response arrives, because the plugin's watch has seen the end of the Job.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	ended, before := metav1.NewTime(at), batchv1.JobFailureTarget
	status := batchv1.JobStatus{
		StartTime: cmp.Or(job.Status.StartTime, &ended), Conditions: slices.Clone(job.Status.Conditions),
	}
	if end == batchv1.JobComplete {
		before, status.CompletionTime, status.Succeeded = batchv1.JobSuccessCriteriaMet, &ended, 1
	}
	for _, condition := range []batchv1.JobConditionType{before, end} {
		status.Conditions = append(status.Conditions,
			batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: ended})
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = client.BatchV1().Jobs(job.Namespace).
			Patch(ctx, job.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Creates reports whether r creates an object. Reviews of permissions are POSTs, too, and don't count.
func Creates(r *http.Request) bool {
	return r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "/authorization.k8s.io/")
}

// First applies the fault to the first n POSTs of a run.
func First(n int, fault faultproxy.Fault) func() func(*http.Request) faultproxy.Fault {
	return func() func(*http.Request) faultproxy.Fault {
		choose := make(chan faultproxy.Fault, n)
		for range n {
			choose <- fault
		}
		return func(r *http.Request) faultproxy.Fault {
			if !Creates(r) {
				return nil
			}
			select {
			case fault := <-choose:
				return fault
			default:
				return nil
			}
		}
	}
}
