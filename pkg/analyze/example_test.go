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
