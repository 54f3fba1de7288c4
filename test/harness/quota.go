package harness

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Quota limits the ConfigMaps in a namespace that has none. No controller runs here, so Quota itself sets the used
// number in the status. Admission caches quotas. Quota sets a full status and then an empty one. When admission
// refuses under the first and allows under the second, its cache has the last status.
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
