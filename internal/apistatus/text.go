package apistatus

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Brief returns err without the address of the request, which makes each line
// of many look different.
func Brief(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return fmt.Errorf("%s: %w", request.Op, request.Err)
	}
	return err
}

// Explain adds text to the message of err. It keeps the type of a Status, because kubectl words
// errors by it.
func Explain(err error, text string) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		longer := *status
		longer.ErrStatus.Message += text
		return &longer
	}
	return fmt.Errorf("%w%s", err, text)
}
