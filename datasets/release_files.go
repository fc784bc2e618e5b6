package datasets

import "github.com/coderl/cr/datasets/hub"

// LiveCodeBenchRepo is where LiveCodeBench's authors publish its problems.
func LiveCodeBenchRepo() hub.Repo { return hubRepo }

// ReleaseFiles names the files of that repository that a release takes.
func ReleaseFiles(name string) ([]string, error) {
	r, err := parseRelease(name)
	if err != nil {
		return nil, err
	}
	return r.files(), nil
}
