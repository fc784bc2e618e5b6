package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// authorizer checks bearer tokens in constant time, also in their length.
type authorizer struct {
	open bool
	want [sha256.Size]byte
}

func newAuthorizer(token string) authorizer {
	return authorizer{open: token == "", want: sha256.Sum256([]byte(token))}
}

func (a authorizer) allows(r *http.Request) bool {
	if a.open {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(got[:], a.want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// clientOf names the client of a request, for fairness: the address it comes
// from. Forwarding headers are not believed, since anybody can write them.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
