package once_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// ownerOf returns an owner with the UID.
func ownerOf(uid types.UID) metav1.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: uid}}
}

// idsOf returns IDs of all kinds, which are all different.
func idsOf(t *testing.T) []once.ID {
	t.Helper()
	ids := []once.ID{once.NewID(), once.NewID()}
	for _, key := range []string{"order-17", "order-18", "a b", "a/b", "é", "a\nb", strings.Repeat("x", 1000)} {
		id, err := once.FromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, uid := range []types.UID{"6f2c9a3e-0000-4000-8000-000000000000", "order-17", "key/0", "a\nb", "-", "a/b", "100%", "\xff"} {
		for _, purpose := range []string{"", "worker-1", "worker-2"} {
			id, err := once.ForOwner(ownerOf(uid), purpose)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// The names and annotations equal those of docs/spec/vectors.json.
func TestVectors(t *testing.T) {
	byOwner, err := once.ForOwner(ownerOf("6b1f2d0e-8a55-4f4b-9a43-0c2f5d1f7a10"), "worker-3")
	if err != nil {
		t.Fatal(err)
	}
	byKey := keyID(t, "prod-migrate-4f2a9c1")
	secret := once.WithSecret([]byte("0123456789abcdef0123456789abcdef\n"))
	for _, test := range []struct {
		id                             once.ID
		generateName, annotation, name string
		options                        []once.Option
	}{
		{byOwner, "w-", "v1-86efff2e82b1190b1b0e12dddccf503b-0-0", "w-lnhrqbprpl", nil},
		{byKey, "migrate-", "v1-322263713e5ddd1a5536b32246aeb87b-0-0", "migrate-hs2j6khmqp", nil},
		{byOwner, "w-", "v1s-7f77d7353912e45e16f6d64ef171b3f1-0-0", "w-l2rpvn5jx8", []once.Option{secret}},
		{byKey, "migrate-", "v1s-36aedcaae06af2f96456e74d5fbd549f-0-0", "migrate-4hwfnslmld", []once.Option{secret}},
	} {
		job := &batchv1.Job{
			TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: test.generateName, Namespace: "shop"},
		}
		server := oncetest.NewServer(oncetest.Type{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"})
		result, err := creatorFor(server, test.options...).Create(t.Context(), job, test.id)
		if err != nil || result.Name != test.name || job.Annotations[once.Annotation] != test.annotation {
			t.Errorf("%s, %v, %v; want %+v", result.Name, err, job.Annotations, test)
		}
	}
}

// The text of an ID gives the same ID, which finds the object of the original one. No two IDs have one text.
func TestParseID(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range idsOf(t) {
		server, creator := newServerAndCreator()
		mustCreate(t, creator, configMap(), id, once.Created)
		parsed, err := once.ParseID(id.String())
		if err != nil || parsed != id || seen[id.String()] {
			t.Errorf("%q: %v, %v, seen before: %v", id, parsed, err, seen[id.String()])
		}
		seen[id.String()] = true
		if mustCreate(t, creator, configMap(), parsed, once.Found); len(server.Objects()) != 1 {
			t.Errorf("%q: %d objects", id, len(server.Objects()))
		}
	}
}

// ParseID refuses other texts. The error doesn't contain the text, because it may be a key.
func TestParseIDRefuses(t *testing.T) {
	const digits = "0123456789abcdef0123456789abcdef"
	for _, text := range []string{
		"", "x", "key", "key/", "/", "owner", "owner/", "owner/uid", "owner//purpose", "owner/a/b/c", "key/a/b", "key/a/", "random/", "random/" + digits[1:],
		"random/" + digits + "0", "random/" + strings.ToUpper(digits), "random/" + digits + "/", "other/" + digits, " key/a", "key/a b", "key/a\n",
		"key/%61", "key/%zz", "key/a%", "key%2Fa", "v1-" + digits + "-0-0",
	} {
		id, err := once.ParseID(text)
		if err == nil || id != (once.ID{}) || !once.IsPermanent(err) || len(text) > 5 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, %v, want no ID, and a permanent error without the text", text, id, err)
		}
	}
	if text := (once.ID{}).String(); text != "" {
		t.Errorf("the empty ID has the text %q", text)
	}
}
