package verl

import (
	"fmt"
	"strings"

	"github.com/coderl/cr/recipes/preset"
)

// keyTable is what one verl version can be configured by; keys/keys.py makes it
// of the package itself.
type keyTable struct {
	version string
	configs map[string]*key
}

// key is a node of a configuration.
type key struct {
	children map[string]*key
	open     bool // anything may be added below
	unread   bool // it composes, and no code reads it
}

// parseKeys reads the outline that keys.py writes: a key a line, one space of
// indentation for each level, marks behind it.
func parseKeys(version, text string) (*keyTable, error) {
	t := &keyTable{version: version, configs: map[string]*key{}}
	root := &key{children: t.configs}
	path := []*key{root}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name := strings.TrimLeft(line, " ")
		depth := len(line) - len(name)
		fields := strings.Fields(name)
		if len(fields) == 0 || depth >= len(path) {
			return nil, fmt.Errorf("keys of verl %s: line %d: bad indentation", version, n+1)
		}
		node := &key{children: map[string]*key{}}
		for _, mark := range fields[1:] {
			switch mark {
			case "{}":
				node.open = true
			case "!":
				node.unread = true
			}
		}
		path[depth].children[fields[0]] = node
		path = append(path[:depth+1], node)
	}
	return t, nil
}

// find walks down a dotted key; rest is what the table does not have.
func (t *keyTable) find(config, dotted string) (node *key, rest string) {
	node = t.configs[config]
	for rest = dotted; rest != ""; {
		name, below, _ := strings.Cut(rest, ".")
		child := node.children[name]
		if child == nil {
			return node, rest
		}
		node, rest = child, below
	}
	return node, ""
}

// reads tells whether a configuration has a key and code that reads it.
func (t *keyTable) reads(config, dotted string) bool {
	node, rest := t.find(config, dotted)
	return rest == "" && !node.unread
}

// check refuses an override that Hydra would refuse, and one whose key nothing
// reads.
func (t *keyTable) check(config string, o Override) error {
	node, rest := t.find(config, o.Key)
	switch {
	case rest == "" && node.unread:
		return fmt.Errorf("verl %s composes this key of %s and never reads it%s", t.version, config, t.nameNow(config, o.Key))
	case rest == "" && o.Add && !o.Force && (!node.open || !isCollection(o.Value)):
		return fmt.Errorf("%s of verl %s has this key: write it without +", config, t.version)
	case rest == "" && len(node.children) > 0 && !o.Delete && !isCollection(o.Value):
		return fmt.Errorf("it is a section of %s in verl %s: set one of its keys", config, t.version)
	case rest == "":
		return nil
	case o.Add && (node.open || isOptional(o.Key)):
		return nil
	case node.open || isOptional(o.Key):
		return fmt.Errorf("%s of verl %s does not have this key yet: write +%s", config, t.version, o.Key)
	default:
		return fmt.Errorf("%s of verl %s has no such key%s", config, t.version, t.hint(config, o.Key))
	}
}

// isOptional knows the sections that no YAML of verl lists and its code asks for.
func isOptional(dotted string) bool {
	for _, section := range []string{"custom_reward_function.reward_kwargs.", "reward.custom_reward_function.reward_kwargs."} {
		if strings.HasPrefix(dotted, section) {
			return true
		}
	}
	return false
}

// nameNow says what a setting is called in this version, where that is known.
func (t *keyTable) nameNow(config, dotted string) string {
	if now := t.renamed(config, dotted); now != "" {
		return fmt.Sprintf(": it is %s there", now)
	}
	return ""
}

// hint names the key that may be meant: another version's name of the same
// setting, the same name elsewhere, or the one with the fewest edits.
func (t *keyTable) hint(config, dotted string) string {
	if now := t.nameNow(config, dotted); now != "" {
		return now
	}
	var same, all []string
	last := dotted[strings.LastIndex(dotted, ".")+1:]
	t.each(config, func(k string) {
		all = append(all, k)
		if strings.HasSuffix(k, "."+last) {
			same = append(same, k)
		}
	})
	near := ""
	if len(same) > 0 {
		near = closest(dotted, same)
	} else {
		near = preset.Nearest(dotted, all)
	}
	if near == "" || near == dotted {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", near)
}

// closest is the candidate that shares most sections with key.
func closest(key string, candidates []string) string {
	best, most := "", -1
	parts := strings.Split(key, ".")
	for _, candidate := range candidates {
		shared := 0
		for _, part := range strings.Split(candidate, ".") {
			for _, p := range parts {
				if p == part {
					shared++
				}
			}
		}
		if shared > most || shared == most && len(candidate) < len(best) {
			best, most = candidate, shared
		}
	}
	return best
}

// each calls f with every dotted key that is read and has none below it.
func (t *keyTable) each(config string, f func(dotted string)) {
	var walk func(node *key, prefix string)
	walk = func(node *key, prefix string) {
		for name, child := range node.children {
			if len(child.children) > 0 {
				walk(child, prefix+name+".")
			} else if !child.unread {
				f(prefix + name)
			}
		}
	}
	if node := t.configs[config]; node != nil {
		walk(node, "")
	}
}
