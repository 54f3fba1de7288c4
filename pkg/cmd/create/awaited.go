package create

import (
	"context"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
)

const textNothingAwaited = "the input contains no object that --wait can wait for. " +
	"Without --for, these are Jobs, Pods, and the runs of Tekton, Argo Workflows, JobSet, Kueue, Kubeflow, Ray, " +
	"Volcano and GitHub Actions."

// awaited passes on the documents from the first one on that f can follow, or that adds types. Until then, nothing is
// created. If there is no such document, it passes on the errors, and an error about --wait.
func awaited(ctx context.Context, f *follow.Follower, input documents, keyed bool) documents {
	return func(yield func(*create.Document, error) bool) {
		var held []create.Step
		holds, isEmpty, awaits, failed := true, true, false, false
		for d, err := range input {
			if err == nil && f.Awaits(d.Mapping) {
				err = check(ctx, f, d)
				holds = holds && err != nil
				awaits = awaits || err == nil
			} else if err == nil && bringsTypes(d) && !keyed {
				holds = false
			}
			if err != nil {
				d, failed = nil, true
			}
			isEmpty = isEmpty && d == nil
			held = append(held, create.Step{Document: d, Err: err})
			if holds {
				continue
			}
			for _, s := range held {
				if !yield(s.Document, s.Err) {
					return
				}
			}
			held = held[:0]
		}
		switch {
		case holds:
			endWithoutDocuments(ctx, held, isEmpty, yield)
		case !awaits && !failed && ctx.Err() == nil:
			yield(nil, ownError(textNothingAwaited))
		}
	}
}

func check(ctx context.Context, f *follow.Follower, d *create.Document) error {
	if err := f.Check(ctx, d.Mapping, d.Namespace, d.Object); err != nil {
		return ownError(err.Error())
	}
	return nil
}

// endWithoutDocuments passes on the errors if no document can be waited for.
func endWithoutDocuments(
	ctx context.Context, held []create.Step, isEmpty bool, yield func(*create.Document, error) bool,
) {
	for _, s := range held {
		if s.Err != nil && !yield(nil, s.Err) {
			return
		}
	}
	if !isEmpty && ctx.Err() == nil {
		yield(nil, ownError("nothing was created, because "+textNothingAwaited))
	}
}
