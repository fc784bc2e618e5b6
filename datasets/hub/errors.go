package hub

import (
	"errors"
	"fmt"
)

// The ways in which a hub refuses. The hub does not tell an anonymous caller
// whether a repository is private or does not exist: that is [ErrPrivate].
var (
	ErrMissing    = errors.New("no such repository")
	ErrPrivate    = errors.New("private, or no such repository: give a token that may read it, or check the name")
	ErrGated      = errors.New("gated: accept its conditions on the hub, and give a token of that account")
	ErrBadToken   = errors.New("the hub does not accept the token")
	ErrNoRevision = errors.New("no such revision")
	ErrNoFile     = errors.New("no such file")
)

// What else can end a download.
var (
	// ErrOffline: a request was needed and the client may make none.
	ErrOffline = errors.New("offline mode (HF_HUB_OFFLINE): nothing is fetched")
	// ErrChecksum: the bytes received are not those the hub lists, twice.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrNoSpace: the files do not fit the disk.
	ErrNoSpace = errors.New("not enough disk space")
	// ErrUntrusted: the endpoint redirected to a host that may not see the token,
	// and that host wants one.
	ErrUntrusted = errors.New("endpoint redirected to untrusted host")
	// ErrNotHub: an answer lacks what the hub's protocol promises.
	ErrNotHub = errors.New("the endpoint is not hub-compatible")
)

// StatusError is an HTTP status that no other error of this package explains.
type StatusError struct {
	URL     string // without its query, which may hold a signature
	Code    int
	Message string // the hub's words, may be empty
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: HTTP %d", e.URL, e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}
