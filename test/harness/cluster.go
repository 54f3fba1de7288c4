package harness

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Clientset is an administrator's client.
func Clientset(t *testing.T, cp *controlplane.ControlPlane) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Namespace makes a namespace of the test's own.
func Namespace(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	ns, err := Clientset(t, cp).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
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

// Grant binds verbs on resources in a namespace to the user called name.
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
}

// Eventually repeats try until it succeeds, for half a minute at most.
func Eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for range 300 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
}
