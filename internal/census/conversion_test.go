package census_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// If the conversion webhook of a type fails, the census reads the type in another version after 15 s. If no other
// version works, the census skips the type after two minutes at most.
func TestConversionWebhook(t *testing.T) {
	for _, test := range []struct {
		broken  string // versions that fail
		objects int64
		within  time.Duration
	}{
		{"v2", 3, 16 * time.Second},
		{"v1 v2", 0, 32 * time.Second},
	} {
		t.Run(test.broken, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &fakeapi.Server{Fault: func(_ int, w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/apis/example.com" {
						_ = json.NewEncoder(w).Encode(metav1.APIGroup{Versions: []metav1.GroupVersionForDiscovery{{Version: "v2"}, {Version: "v1"}}})
						return true
					}
					version := strings.Split(r.URL.Path, "/")[3]
					if !strings.Contains(test.broken, version) {
						return false
					}
					fakeapi.Fail(w, http.StatusInternalServerError, "conversion webhook for example.com/v1, Kind=Widget failed: connection refused")
					return true
				}}
				config := server.StartPipe(t)
				for i := range 3 {
					server.Change("/apis/example.com/v1/widgets", "ADDED", metav1.ObjectMeta{Namespace: "prod", Name: fmt.Sprint("w-", i)})
				}
				scanner := &census.Scanner{Config: config, Version: "v1.36.0"}
				widgets := census.Resource{
					GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "widgets"}, Namespaced: true,
				}
				began := time.Now()
				_, summary, err := scanner.Count(t.Context(), []census.Resource{widgets}, "")
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("the count took %v, want at most %v", took, test.within)
				}
				if summary.Objects != test.objects || len(summary.Skipped) > 0 != (test.objects == 0) {
					t.Errorf("%d objects, want %d. Skipped: %+v", summary.Objects, test.objects, summary.Skipped)
				}
				for _, s := range summary.Skipped {
					if want := "gave up after 15s: conversion webhook"; !strings.Contains(s.Message, want) {
						t.Errorf("the message is %q, want %q in it", s.Message, want)
					}
				}
			})
		})
	}
}
