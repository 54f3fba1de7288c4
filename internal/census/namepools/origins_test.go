package namepools

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census/censustest"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// The creators of a small name pool are not decoded. Malformed ones cause an error only when the name
// pool is no longer small.
func TestOriginsOfSmallPoolsAreNotRead(t *testing.T) {
	const broken = "\xff"
	stems := NewStems(&Rules{CreatorsFrom: 3, AtOnce: 1}, func(ID, *Tally) {})
	add := func(name string, created int64) error {
		o := &decode.Object{Name: name, Created: created}
		if stems.WantsCreator(o) == decode.Later {
			o.Origin = []byte(broken)
		}
		return stems.Add(o)
	}
	for i := range 10 {
		for _, suffix := range []string{"bbbbb", "ccccc"} {
			if err := add(fmt.Sprint("small", i, suffix), int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	malformed := new(decode.Malformed)
	if err := errors.Join(add("xbbbbb", 1), add("xccccc", 2)); err != nil {
		t.Error(err)
	}
	if err := add("xddddd", 1); !errors.As(err, malformed) {
		t.Errorf("read of three names: %v", err)
	}
}

// Memory stays limited with many newest objects and with large ones. The creators are still right.
func TestOriginsAreBounded(t *testing.T) {
	for _, manager := range []string{"short", strings.Repeat("long", 2_000)} {
		list := &metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		}
		const objects = 2_000
		for i := range objects {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: "x-" + orderedSuffix(i), GenerateName: "x-", CreationTimestamp: metav1.Unix(int64(i), 0),
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: fmt.Sprint(i, manager)}},
			}})
		}
		emitted, most := 0, 0
		stems := NewStems(&Rules{MinCount: objects, CreatorsFrom: objects, AtOnce: 1}, func(_ ID, tally *Tally) {
			emitted++
			want := censustest.CreatorOf(list.Items[objects-1].ObjectMeta)
			if tally.Creator != decode.Creator(want) || tally.Creators() != MaxCreators {
				t.Errorf("%+v of %d creators, want %+v", tally.Creator, tally.Creators(), want)
			}
		})
		asked := decode.Asked{Creator: stems.WantsCreator}
		add := func(o *decode.Object) error {
			err := stems.Add(o)
			most = max(most, len(stems.open[len("x-")].origins.bytes))
			return err
		}
		page := strings.NewReader(string(censustest.Protobuf(list)))
		if _, err := decode.List(page, make([]byte, decode.BufferSize), asked, add); err != nil {
			t.Fatal(err)
		}
		stems.Finish()
		if emitted != 1 || most > maxOrigins {
			t.Errorf("%d spaces, %d bytes", emitted, most)
		}
	}
}
