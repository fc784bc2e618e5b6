package verl

import (
	"fmt"

	"github.com/coderl/cr/recipes/preset"
)

// toolYAML is the tool configuration for verl's agent loop. Descriptions are those
// of eval/agent, so that a model sees the same tool wherever it runs.
func toolYAML(r preset.RL) []byte {
	return fmt.Appendf(nil, `tools:
  - class_name: cr_verl.tool.SandboxTool
    config:
      type: native
      url: %q
      timeout: %d
    tool_schema:
      type: function
      function:
        name: code_interpreter
        description: Execute code in the sandbox.
        parameters:
          type: object
          properties:
            code:
              type: string
              description: The program to run.
            language:
              type: string
              description: The programming language, python by default.
            timeout:
              type: integer
              description: Time limit in seconds.
          required: [code]
`, r.Reward.Sandbox, r.Tools.Timeout)
}
