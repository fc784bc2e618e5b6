package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Repo is one repository on the shelf.
type Repo struct {
	Kind, Name string // models or datasets, ORG/NAME
	Commit     string
	Files      int
	Bytes      int64
}

// Warm reads every repository once, so that no client waits for a hash, and
// calls each for every one of them.
func (s *Server) Warm(ctx context.Context, each func(Repo)) error {
	for _, kind := range []string{"models", "datasets"} {
		names, err := s.shelf.names(kind)
		if err != nil {
			return err
		}
		for _, name := range names {
			r, err := s.shelf.open(ctx, kind, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			found := Repo{Kind: kind, Name: name, Commit: r.commit, Files: len(r.files)}
			for _, f := range r.files {
				found.Bytes += f.size
			}
			each(found)
		}
	}
	return nil
}

// names lists the folders ORG/NAME of a kind.
func (s *shelf) names(kind string) ([]string, error) {
	root := s.dir
	if kind == "datasets" {
		root = filepath.Join(root, "datasets")
	}
	orgs, err := os.ReadDir(root)
	if os.IsNotExist(err) && kind == "datasets" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, org := range orgs {
		if kind == "models" && org.Name() == "datasets" || org.Name()[0] == '.' {
			continue
		}
		repos, err := os.ReadDir(filepath.Join(root, org.Name()))
		if err != nil {
			continue // a file beside the folders
		}
		for _, repo := range repos {
			if info, err := os.Stat(filepath.Join(root, org.Name(), repo.Name())); err == nil && info.IsDir() && repo.Name()[0] != '.' {
				names = append(names, org.Name()+"/"+repo.Name())
			}
		}
	}
	return names, nil
}
