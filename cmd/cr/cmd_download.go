package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/runtime/weights"
)

type downloadCmd struct {
	Repos []string `arg:"" optional:"" name:"repo" help:"ORG/NAME[@REV], or datasets/ORG/NAME[@REV] (default: Qwen/Qwen3-1.7B and AngelSlim/Qwen3-1.7B_eagle3)."`

	Dir      string   `placeholder:"DIR" help:"Plain files into this folder, DIR/NAME with several repositories (default: the cache shared with huggingface_hub)."`
	Revision string   `default:"main" help:"Branch, tag or commit of those that name none."`
	Include  []string `sep:"none" placeholder:"GLOB" help:"Only files that match; may be repeated."`
	Exclude  []string `sep:"none" placeholder:"GLOB" help:"No files that match; may be repeated."`
	Endpoint string   `placeholder:"URL" help:"The hub or a mirror (default: HF_ENDPOINT, else the public hub)."`
	Token    string   `placeholder:"TOKEN" help:"Access token (default: HF_TOKEN, else the one that a login kept)."`
	Trust    []string `placeholder:"URL" help:"Another origin that may see the token, if the endpoint redirects there."`
	Jobs     int      `default:"8" help:"Requests at a time."`
	Verify   bool     `help:"Hash what is there already too, and fetch it again if it is damaged."`
	Convert  bool     `help:"Write safetensors beside pytorch_model.bin; needs --dir."`
	DryRun   bool     `help:"Say what would be fetched, with sizes."`

	Cache cacheFlags `embed:""`
}

// Help is shown below the flags.
func (downloadCmd) Help() string {
	return `Examples:
  cr download
  cr download Qwen/Qwen3-1.7B --include '*.safetensors' --include '*.json' --dry-run
  cr download AngelSlim/Qwen3-1.7B_eagle3 --dir draft --convert

Every file is verified by the hub's hash before it gets its name. A download that
was interrupted goes on where it was. HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN
and HF_HUB_OFFLINE mean what they mean to huggingface_hub.`
}

// Validate is called by Kong after parsing.
func (d *downloadCmd) Validate() error {
	switch {
	case d.Jobs < 1 || d.Jobs > 64:
		return fmt.Errorf("--jobs %d: want 1 to 64", d.Jobs)
	case d.Convert && d.Dir == "":
		return errors.New("--convert writes beside the download, and never into the shared cache: name a folder with --dir")
	case d.Convert && d.DryRun:
		return errors.New("--convert and --dry-run exclude each other")
	case d.Verify && d.DryRun:
		return errors.New("--verify and --dry-run exclude each other: a dry run reads no file")
	case d.Dir == "":
		return nil
	}
	if info, err := os.Stat(d.Dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--dir %s: not a folder", d.Dir)
	}
	return nil
}

// downloaded is one file of the result.
type downloaded struct {
	Repo    string `json:"repo"`
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"` // in a dry run, of LFS files alone
	Fetched bool   `json:"fetched"`
	Fetch   bool   `json:"would_fetch,omitempty"`
}

// downloadedRepo is one repository of the result.
type downloadedRepo struct {
	Repo     string `json:"repo"`
	Revision string `json:"revision"`
	Commit   string `json:"commit"`
	Dir      string `json:"dir"`
	Bytes    int64  `json:"bytes"`
	Fetch    int64  `json:"bytes_fetched"`
}

// downloads is the whole result.
type downloads struct {
	Repos     []downloadedRepo `json:"repos"`
	Files     []downloaded     `json:"files"`
	Converted []string         `json:"converted,omitempty"`
	DryRun    bool             `json:"dry_run,omitempty"`
}

// Run downloads.
func (d *downloadCmd) Run(ctx context.Context, c *console) error {
	repos, err := d.repos()
	if err != nil {
		return err
	}
	chosen, err := hub.Select(d.Include, d.Exclude)
	if err != nil {
		return badInput(err)
	}
	client, err := d.Cache.client(c, func(o *hub.Options) {
		o.Endpoint, o.Token = cmp.Or(d.Endpoint, o.Endpoint), cmp.Or(d.Token, o.Token)
		o.Jobs, o.Trusted = d.Jobs, d.Trust
	})
	if err != nil {
		return err
	}
	defer client.Close()
	result := downloads{Files: []downloaded{}, DryRun: d.DryRun}
	var plans []hub.Plan
	for _, r := range repos {
		plan, err := d.plan(ctx, c, client, r, len(repos) > 1, chosen)
		if err != nil {
			return d.explain(err)
		}
		plans = append(plans, plan)
	}
	if err := d.checkSpace(plans); err != nil {
		return err
	}
	for _, plan := range plans {
		if err := d.get(ctx, c, client, plan, &result); err != nil {
			return d.explain(err)
		}
	}
	return c.result(result, result.text)
}

// repos reads the arguments.
func (d *downloadCmd) repos() ([]hub.Repo, error) {
	names := d.Repos
	if len(names) == 0 {
		names = []string{"Qwen/Qwen3-1.7B", "AngelSlim/Qwen3-1.7B_eagle3"}
	}
	var repos []hub.Repo
	for _, name := range names {
		r, err := hub.ParseRef(name, d.Revision)
		if err != nil {
			return nil, badInput(err)
		}
		if !slices.Contains(repos, r) {
			repos = append(repos, r)
		}
	}
	if d.Dir == "" {
		return repos, nil
	}
	places := map[string]hub.Repo{}
	for _, r := range repos {
		place := path.Base(r.Name)
		if other, taken := places[place]; taken {
			return nil, usagef("%s@%s and %s@%s would both go into %s: download them one by one",
				other.Name, other.Revision, r.Name, r.Revision, filepath.Join(d.Dir, place))
		}
		places[place] = r
	}
	return repos, nil
}

// plan lists one repository and looks at what is there.
func (d *downloadCmd) plan(ctx context.Context, c *console, client *hub.Client, r hub.Repo, several bool, chosen hub.Selection) (hub.Plan, error) {
	var to hub.Target
	switch {
	case d.Dir == "":
		root, err := d.Cache.hubCache()
		if err != nil {
			return hub.Plan{}, err
		}
		to = hub.InCache(root)
	case several:
		to = hub.InFolder(filepath.Join(d.Dir, path.Base(r.Name)))
	default:
		to = hub.InFolder(d.Dir)
	}
	plan, err := client.Plan(ctx, r, to, chosen)
	if err != nil {
		return plan, err
	}
	if len(plan.Items) == 0 && len(plan.Files) > 0 {
		return plan, usagef("%s: no file matches --include and --exclude (it has %d)", r.Name, len(plan.Files))
	}
	if d.Verify && !d.DryRun {
		wrong, err := client.Recheck(ctx, &plan)
		for _, name := range wrong {
			c.note("%s: %s was damaged; fetching it again", r.Name, name)
		}
		return plan, err
	}
	return plan, nil
}

// checkSpace compares all repositories together with the disk.
func (d *downloadCmd) checkSpace(plans []hub.Plan) error {
	if d.DryRun {
		return nil
	}
	return hub.CheckSpace(plans...)
}

// get fetches one repository, or lists it in a dry run.
func (d *downloadCmd) get(ctx context.Context, c *console, client *hub.Client, plan hub.Plan, into *downloads) error {
	all, need := plan.Bytes()
	dir := plan.Target.Dir(plan.Listing)
	into.Repos = append(into.Repos, downloadedRepo{plan.Repo.Name, plan.Repo.Revision, plan.Commit, dir, all, need})
	if d.DryRun {
		for _, i := range plan.Items {
			into.Files = append(into.Files, downloaded{plan.Repo.Name, i.Path, i.Size, i.SHA256, false, i.Fetch()})
		}
		return nil
	}
	if need > 0 {
		c.note("%s@%s: fetching %s into %s", plan.Repo.Name, plan.Repo.Revision, humanBytes(need), dir)
	}
	results, err := runPlan(ctx, c, client, plan)
	if err != nil {
		return err
	}
	for _, r := range results {
		into.Files = append(into.Files, downloaded{plan.Repo.Name, r.Path, r.Size, r.SHA256, r.Fetched, false})
	}
	if plan.Repo.Kind != hub.Models {
		return nil
	}
	if err := weights.CheckFolder(dir, plan.Partly); err != nil {
		return fmt.Errorf("%s: %w", plan.Repo.Name, err)
	}
	if d.Convert {
		written, err := weights.ConvertTorchFolder(ctx, dir)
		into.Converted = append(into.Converted, written...)
		return err
	}
	return nil
}

// explain marks what is the arguments' fault, and says what mends the rest.
func (d *downloadCmd) explain(err error) error {
	err = fmt.Errorf("download: %w", explainHub(err))
	if errors.Is(err, hub.ErrMissing) || errors.Is(err, hub.ErrNoRevision) || errors.Is(err, hub.ErrNoFile) {
		return badInput(err)
	}
	return err
}

// text prints the result for people: files in a dry run, folders otherwise.
func (r downloads) text(w io.Writer) error {
	if r.DryRun {
		for _, f := range r.Files {
			state := "there"
			if f.Fetch {
				state = "fetch"
			}
			fmt.Fprintf(w, "%s  %9s  %s/%s\n", state, humanBytes(f.Size), f.Repo, f.Path)
		}
	}
	for _, repo := range r.Repos {
		fetched := "fetched"
		if r.DryRun {
			fetched = "to fetch"
		}
		fmt.Fprintf(w, "%s@%s (%.12s): %s, %s %s\n  %s\n", repo.Repo, repo.Revision, repo.Commit, humanBytes(repo.Bytes), humanBytes(repo.Fetch), fetched, repo.Dir)
	}
	for _, path := range r.Converted {
		fmt.Fprintln(w, "  converted:", path)
	}
	return nil
}
