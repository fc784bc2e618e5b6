package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
)

// treeVersion is the format of huggingface_hub's trees/COMMIT.json.
const treeVersion = 1

type keptTree struct {
	Version int                 `json:"format_version"`
	Files   map[string]keptFile `json:"files"`
}

type keptFile struct {
	Size    int64  `json:"size"`
	OID     string `json:"blob_id"`
	SHA256  string `json:"lfs_sha256,omitempty"`
	LFSSize int64  `json:"lfs_size,omitempty"`
	Xet     string `json:"xet_hash,omitempty"`
}

func treePath(folder, sha string) string { return filepath.Join(folder, "trees", sha+".json") }

// keepTree stores a listing, so that one can tell offline whether a snapshot is
// whole.
func keepTree(folder string, l Listing) error {
	path := treePath(folder, l.Commit)
	if _, err := os.Stat(path); err == nil {
		return nil // a commit never changes
	}
	kept := keptTree{Version: treeVersion, Files: map[string]keptFile{}}
	for _, f := range l.Files {
		if f.OID == "" {
			return nil // a mirror that lists no hashes: nothing worth keeping
		}
		k := keptFile{Size: f.Size, OID: f.OID, SHA256: f.SHA256, Xet: f.Xet}
		if f.SHA256 != "" {
			k.LFSSize = f.Size
		}
		kept.Files[f.Path] = k
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, data)
}

// keptListing reads a stored listing; an error if there is none or it is not to
// be used.
func keptListing(folder string, r Repo, sha string) (Listing, error) {
	path := treePath(folder, sha)
	info, err := os.Stat(path)
	if err != nil {
		return Listing{}, err
	}
	if info.Size() > maxPageBytes {
		return Listing{}, fmt.Errorf("%s: %d bytes", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Listing{}, err
	}
	var kept keptTree
	if err := json.Unmarshal(data, &kept); err != nil {
		return Listing{}, fmt.Errorf("%s: %w", path, err)
	}
	if kept.Version != treeVersion {
		return Listing{}, fmt.Errorf("%s: format %d", path, kept.Version)
	}
	var entries []treeEntry
	for name, k := range kept.Files {
		e := treeEntry{Type: "file", Path: name, Size: k.Size, OID: k.OID, Xet: k.Xet}
		if k.SHA256 != "" {
			e.LFS = &struct {
				OID  string `json:"oid"`
				Size int64  `json:"size"`
			}{k.SHA256, k.LFSSize}
		}
		entries = append(entries, e)
	}
	files, err := filesOf(entries)
	return Listing{Repo: r, Commit: sha, Files: files}, err
}
