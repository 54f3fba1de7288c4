package once_test

import (
	"strings"
	"testing"

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
	for _, key := range []string{"order-17", "order-18", " ", "a\nb", strings.Repeat("x", 1000)} {
		id, err := once.FromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, uid := range []types.UID{"6f2c9a3e-0000-4000-8000-000000000000", "order-17", "key-v1-0", "a\nb", "-"} {
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

// The vectors were computed apart from this code. A controller finds the objects
// of its older versions by them: they never change.
func TestVectors(t *testing.T) {
	byOwner, err := once.ForOwner(owner, "worker-3")
	if err != nil {
		t.Fatal(err)
	}
	byKey, err := once.FromKey("order-17")
	if err != nil {
		t.Fatal(err)
	}
	const ofOwner = "owner-v1-85af198489d443869d2f9f7d130b1971-6f2c9a3e"
	const ofKey = "key-v1-799f6b58696bae5ea6f0cb9db992cffd"
	for _, test := range []struct {
		id                       once.ID
		text, generateName, name string
	}{
		{byOwner, ofOwner, "worker-", "worker-lzzd5474c4"},
		{byKey, ofKey, "worker-", "worker-q52tddtmrn"},
		{byKey, ofKey, strings.Repeat("x", 60), strings.Repeat("x", 53) + "2gv44ncgz6"},
	} {
		object := configMap()
		object.GenerateName = test.generateName
		result, err := creatorFor(oncetest.NewServer()).Create(t.Context(), object, test.id)
		if err != nil || result.Name != test.name || test.id.String() != test.text {
			t.Errorf("%s has the name %s, %v; want %+v", test.id, result.Name, err, test)
		}
	}
}

// The text of an ID gives the same ID, and no two IDs have one text.
func TestParseID(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range idsOf(t) {
		text := id.String()
		if parsed, err := once.ParseID(text); err != nil || parsed != id {
			t.Errorf("%q: %v, %v", text, parsed, err)
		}
		if seen[text] {
			t.Errorf("two IDs have the text %q", text)
		}
		seen[text] = true
	}
}

// A parsed ID finds the object of the original one.
func TestParsedIDFinds(t *testing.T) {
	for _, id := range idsOf(t) {
		server, creator := newServerAndCreator()
		first := configMap()
		if _, err := creator.Create(t.Context(), first, id); err != nil {
			t.Fatal(err)
		}
		parsed, err := once.ParseID(id.String())
		if err != nil {
			t.Fatal(err)
		}
		result, err := creator.Create(t.Context(), configMap(), parsed)
		if err != nil || result.Outcome != once.Found || result.Name != first.Name || len(server.Objects()) != 1 {
			t.Errorf("%s: %+v, %v", id, result, err)
		}
	}
}

// Other texts are refused with an error that has the text.
func TestParseIDRefuses(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef"
	for _, text := range []string{
		"", "x", hash, "key-v1", "key-v1-", "key-v1-" + hash[1:], "key-v1-" + hash + "0", "key-v2-" + hash, "v1-" + hash,
		"key-v1-" + strings.ToUpper(hash), "key-v1-" + hash + "-", "key-v1-" + hash + "-uid", "random-v1-" + hash + "-uid",
		"owner-v1-" + hash, "owner-v1-" + hash + "-", "owner-v1-" + hash + "uid",
		" key-v1-" + hash, "key-v1-" + hash + "\n", "x\nkey-v1-" + hash, "key-v1-" + hash + " ",
	} {
		id, err := once.ParseID(text)
		if err == nil || id != (once.ID{}) || !once.IsPermanent(err) {
			t.Errorf("%q: %v, %v", text, id, err)
		}
	}
	if text := (once.ID{}).String(); text != "" {
		t.Errorf("the empty ID has the text %q", text)
	}
}
