package sandbox

import (
	"fmt"
	"sync"

	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/lang"
)

// Toolchain says whether programs in a language can run on this host.
type Toolchain struct {
	Language string `json:"language"`
	Version  string `json:"version"` // what its tool says of itself; "" if it is not here
	Missing  string `json:"missing"` // why it is not here; "" if it is
	Install  string `json:"install"` // packages that bring it
	// Tested says that this project's tests cover the tool chain.
	Tested bool `json:"tested"`
}

// Toolchains asks the tool chains of all languages for their versions. python is
// as in [LocalOptions].
func Toolchains(python string) ([]Toolchain, error) {
	interpreter, err := jail.FindPython(python)
	if err != nil {
		return nil, fmt.Errorf("find tool chains: %w", err)
	}
	host := lang.NewHost(interpreter.Path, "")
	table := lang.Table()
	all := make([]Toolchain, len(table))
	var asked sync.WaitGroup
	for i := range table {
		all[i] = Toolchain{Language: table[i].Name, Tested: true, Version: "Python " + interpreter.Version}
		if !table[i].Warm() {
			asked.Go(func() { all[i].ask(host, &table[i]) })
		}
	}
	asked.Wait()
	return all, nil
}

func (t *Toolchain) ask(host *lang.Host, language *lang.Language) {
	first := &language.Chains[0]
	t.Version, t.Install, t.Tested = "", first.Install, !first.Untested
	chain, err := host.Find(language)
	if err != nil {
		t.Missing = err.Error()
		return
	}
	t.Version, t.Install, t.Tested = chain.Version(), chain.Install, !chain.Untested
}
