package manifest

import (
	"errors"
	"testing"

	"k8s.io/client-go/openapi"
)

// asked stands for kubectl's validation. It counts the calls, and refuses every document.
type asked struct{ times int }

var errAsked = errors.New("asked")

func (a *asked) ValidateBytes([]byte) error {
	a.times++
	return errAsked
}

// served is the OpenAPI of a server. For an empty document, the server returns an error.
type served map[string]string

func (s served) Paths() (map[string]openapi.GroupVersion, error) {
	paths := map[string]openapi.GroupVersion{}
	for path, document := range s {
		paths[path] = schemaOf(document)
	}
	return paths, nil
}

type schemaOf string

func (s schemaOf) Schema(string) ([]byte, error) {
	if s == "" {
		return nil, errors.New("as chosen")
	}
	return []byte(s), nil
}

func (s schemaOf) ServerRelativeURL() string { return "" }

// patch is the OpenAPI of a type with a parameter of PATCH.
func patch(group, kind, parameter, in string) string {
	return `{"paths":{"/x":{"get":{"parameters":[{"name":"fieldValidation","in":"query"}]},"patch":{` +
		`"x-kubernetes-group-version-kind":{"group":"` + group + `","version":"v1","kind":"` + kind + `"},` +
		`"parameters":[{"name":"` + parameter + `","in":"` + in + `"}]}}}}`
}

func TestServerValidation(t *testing.T) {
	server := served{
		"api/v1":             patch("", "ConfigMap", "fieldValidation", "query"),
		"apis/batch/v1":      patch("batch", "Job", "fieldValidation", "query"),
		"apis/old.dev/v1":    patch("old.dev", "Old", "force", "query"),
		"apis/header.dev/v1": patch("header.dev", "Header", "fieldValidation", "header"),
		"apis/away.dev/v1":   "",
		"apis/broken.dev/v1": "{",
	}
	for document, byServer := range map[string]bool{
		`{"apiVersion":"v1","kind":"ConfigMap"}`:          true,
		`{"apiVersion":"batch/v1","kind":"Job"}`:          true,
		`{"apiVersion":"batch/v1","kind":"CronJob"}`:      false,
		`{"apiVersion":"batch/v2","kind":"Job"}`:          false,
		`{"apiVersion":"old.dev/v1","kind":"Old"}`:        false,
		`{"apiVersion":"header.dev/v1","kind":"Header"}`:  false,
		`{"apiVersion":"away.dev/v1","kind":"Away"}`:      false,
		`{"apiVersion":"broken.dev/v1","kind":"Broken"}`:  false,
		`{"apiVersion":"v1","kind":"List"}`:               false,
		`{"apiversion":"v1","kind":"ConfigMap"}`:          false,
		`{"apiVersion":"v1"}`:                             false,
		`{"kind":"ConfigMap"}`:                            false,
		`{"apiVersion":1,"kind":"ConfigMap"}`:             false,
		`{"apiVersion":"a/b/c","kind":"ConfigMap"}`:       false,
		"apiVersion: v1\nkind: ConfigMap\nnot: [closed\n": false,
	} {
		kubectls := &asked{}
		v := &serverValidation{kubectls, server, map[string]operations{}}
		for range 2 { // the second time from the cache
			switch err := v.ValidateBytes([]byte(document)); {
			case byServer && err != nil:
				t.Errorf("%s: %v", document, err)
			case !byServer && !errors.Is(err, errAsked):
				t.Errorf("%s: kubectl's validation was not asked: %v", document, err)
			}
		}
	}
}
