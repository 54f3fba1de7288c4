package once

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Annotation is the annotation by which Create recognizes its object. The value is derived from the secret, the ID,
// and the object's kind, namespace and generateName.
const Annotation = derive.IDAnnotation

// ID identifies one object, together with its kind, namespace and generateName. IDs can be compared, printed with
// String and read with ParseID. IDs contain no secret. The zero value is not an ID.
type ID struct{ kind, first, second string }

// The kinds of IDs. The text of an ID begins with its kind.
const (
	ofOwner  = "owner"
	ofKey    = "key"
	ofRandom = "random"
)

// ForOwner returns the ID of the object that owner needs for a purpose, such as "worker-3". The ID is derived from
// the owner's UID. If the owner is deleted and created again with the same name, it has another UID, so it gets
// its own objects. ForOwner returns an error if owner is nil or has no UID.
//
// Create doesn't set an owner reference, and doesn't check that the owner exists.
func ForOwner(owner metav1.Object, purpose string) (ID, error) {
	switch {
	case isNil(owner):
		return ID{}, invalid("the owner is nil")
	case owner.GetUID() == "":
		return ID{}, invalid("the owner %q has no UID: it was not read from a server", owner.GetName())
	}
	return ID{ofOwner, string(owner.GetUID()), purpose}, nil
}

// FromKey returns the ID of the object for a key, such as an order number. The key must be UTF-8, not empty, and
// without a separator (white space, - _ . / :) at its ends, because a variable in such a key was probably empty. The
// object carries a hash of the key, not the key. Without a secret, other users can test a guess of the key against the
// hash.
//
// If the object exists and was created with other content, Create returns ErrMismatch. The data of a Secret counts only
// with WithSecret. Without WithSecret, Create returns Found, and sets Result.Differs if the data on the server differs.
func FromKey(key string) (ID, error) {
	if err := derive.CheckKey(key); err != nil {
		return ID{}, invalid("%v", err)
	}
	return ID{ofKey, key, ""}, nil
}

// NewID returns an ID of 128 random bits. Store it before you create the object, because only the same ID finds
// the object after a restart. Without a secret, a user who reads the stored ID can take the object's name before
// you create the object.
func NewID() ID {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, as its documentation says
	return ID{ofRandom, hex.EncodeToString(bits[:]), ""}
}

// String returns the ID as text, for ParseID. The text is owner/UID/PURPOSE, key/KEY or random/DIGITS, with the
// escapes of a URL's path. So the text of an ID of FromKey contains the key.
func (id ID) String() string {
	switch id.kind {
	case "":
		return ""
	case ofOwner:
		return id.kind + "/" + url.PathEscape(id.first) + "/" + url.PathEscape(id.second)
	}
	return id.kind + "/" + url.PathEscape(id.first)
}

var randomDigits = regexp.MustCompile("^[0-9a-f]{32}$")

// ParseID reads the text of an ID. The errors of ParseID don't contain the text.
func ParseID(text string) (ID, error) {
	parts := strings.Split(text, "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i]) // the comparison below finds errors
	}
	id := ID{kind: parts[0]}
	if len(parts) > 1 {
		id.first = parts[1]
	}
	if len(parts) > 2 {
		id.second = parts[2]
	}
	known := id.kind == ofOwner || id.kind == ofKey || id.kind == ofRandom && randomDigits.MatchString(id.first)
	if !known || id.first == "" || id.String() != text || id.kind == ofKey && derive.CheckKey(id.first) != nil {
		return ID{}, invalid("the text is not that of an ID")
	}
	return id, nil
}

// source returns the input of the derivation.
func (id ID) source() derive.Source {
	switch id.kind {
	case ofOwner:
		return derive.FromOwner(id.first, id.second)
	case ofKey:
		return derive.FromKey(id.first)
	}
	return derive.FromRandom(id.first)
}
