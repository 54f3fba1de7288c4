package v1alpha1

import "testing"

// A policy is found by its name, wherever it is in a report.
func TestPolicy(t *testing.T) {
	one, eight := 1, 8
	item := CollisionItem{
		Policies: []Policy{{Name: PolicyServer, Attempts: &eight}, {Name: PolicyNone, Attempts: &one}},
		Churn:    &Churn{Policies: []ChurnPolicy{{Name: PolicyServer, Attempts: &eight}, {Name: PolicyNone, Attempts: &one}}},
	}
	for name, attempts := range map[PolicyName]int{PolicyNone: 1, PolicyServer: 8} {
		if p := item.Policy(name); p == nil || p.Name != name || *p.Attempts != attempts {
			t.Errorf("%s of the item: %+v", name, p)
		}
		if p := item.Churn.Policy(name); p == nil || p.Name != name || *p.Attempts != attempts {
			t.Errorf("%s of the churn: %+v", name, p)
		}
	}
	if p := item.Policy(PolicyClient); p != nil {
		t.Errorf("a policy that is not there: %+v", p)
	}
	if p := item.Churn.Policy(PolicyClient); p != nil {
		t.Errorf("a policy that is not there: %+v", p)
	}
}

// The policy in force is the server's, or no retries if its attempts are unknown.
func TestInForce(t *testing.T) {
	one, eight := 1, 8
	known := CollisionItem{Policies: []Policy{{Name: PolicyNone, Attempts: &one}, {Name: PolicyServer, Attempts: &eight}}}
	if p := known.InForce(); p.Name != PolicyServer {
		t.Errorf("%+v", p)
	}
	unknown := CollisionItem{Policies: []Policy{{Name: PolicyNone, Attempts: &one}, {Name: PolicyServer}}}
	if p := unknown.InForce(); p.Name != PolicyNone {
		t.Errorf("%+v", p)
	}
}
