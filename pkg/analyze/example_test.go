package analyze_test

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

// The server's name pool of one prefix, with the 8 attempts of Kubernetes 1.32 and later.
func server() analyze.Model {
	names, err := analyze.NamePoolSize(analyze.SuffixLength)
	if err != nil {
		panic(err)
	}
	m, err := analyze.NewModel(names, 8)
	if err != nil {
		panic(err)
	}
	return m
}

func Example() {
	names, _ := analyze.NamePoolSize(analyze.SuffixLength)
	for _, attempts := range []int{1, 8} {
		m, err := analyze.NewModel(names, attempts)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d attempts: next create fails with %.3g, any of 1000 with %.3g\n",
			attempts, m.NextFails(100_000), m.AnyFails(100_000, 1000).Float64())
	}
	// Output:
	// 1 attempts: next create fails with 0.00697, any of 1000 with 0.999
	// 8 attempts: next create fails with 5.56e-18, any of 1000 with 5.79e-15
}

// An operator that creates Jobs under one prefix sees 1.2 million of them, and
// 9000 created in the last day. Does it need more attempts, and when?
func Example_operator() {
	const existing, perDay = 1_200_000, 9000
	room, err := server().Room(existing, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("the next create fails with %.2g\n", server().NextFails(existing))
	fmt.Printf("a failure becomes likelier than 0.1%% after %d creates, in %.0f days if nothing is deleted\n", room, float64(room)/perDay)
	churn, err := server().Churn(existing, perDay, 30)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("if as many are deleted, a failure comes every %.0f days\n", churn.DaysToFirstFailure)
	// Output:
	// the next create fails with 2.4e-09
	// a failure becomes likelier than 0.1% after 205046 creates, in 23 days if nothing is deleted
	// if as many are deleted, a failure comes every 46436 days
}

func ExampleModel_NextFails() {
	p := server().NextFails(1_000_000)
	fmt.Printf("%.3g\n", p)
	// Output: 5.56e-10
}

func ExampleModel_ExpectedExtraAttempts() {
	fmt.Printf("%.0f more calls of each validating webhook\n", server().ExpectedExtraAttempts(0, 1_000_000))
	// Output: 36554 more calls of each validating webhook
}

func ExampleModel_AnyFails() {
	p := server().AnyFails(0, 1_000_000)
	fmt.Printf("%.9g, its logarithm %.9g\n", p.Float64(), p.Log10())
	// Output: 6.18289034e-05, its logarithm -4.20880846
}

func ExampleModel_Room() {
	n, err := server().Room(0, 0.001)
	fmt.Println(n, err)
	// Output: 1362494 <nil>
}

func ExampleModel_EquivalentSuffixLength() {
	fmt.Printf("%.2f characters\n", server().EquivalentSuffixLength(0, 1_000_000))
	// Output: 11.11 characters
}

func ExampleModel_ExpectedReuses() {
	fmt.Printf("%.2f of 10000 creates take the name of a deleted object\n", server().ExpectedReuses(0, 10_000))
	// Output: 3.48 of 10000 creates take the name of a deleted object
}

func ExampleModel_Churn() {
	c, err := server().Churn(1_000_000, 86_400, 365)
	fmt.Printf("%.3g failures a day, the first after %.0f years, one this year with %.3g, %v\n",
		c.FailuresPerDay, c.DaysToFirstFailure/365, c.AnyFails.Float64(), err)
	// Output: 4.81e-05 failures a day, the first after 57 years, one this year with 0.0174, <nil>
}
