package verl

import (
	"strconv"
	"strings"

	"github.com/coderl/cr/recipes/preset"
)

// sftEnv is the environment of the published fine-tuning run.
func (b *builder) sftEnv(v preset.Verl) {
	b.env("HYDRA_FULL_ERROR", "1")
	b.env("CUDA_DEVICE_MAX_CONNECTIONS", "1")
	if v.Device != "npu" {
		return
	}
	b.env("ASCEND_RT_VISIBLE_DEVICES", ordinals(v.Devices))
	b.env("ASCEND_LAUNCH_BLOCKING", "0")
	b.env("ASCEND_GLOBAL_EVENT_ENABLE", "0")
	b.env("ASCEND_SLOG_PRINT_TO_STDOUT", "0")
	b.env("ASCEND_GLOBAL_LOG_LEVEL", "3")
	b.env("HCCL_CONNECT_TIMEOUT", hcclTimeout(v.Nodes, "360"))
	b.env("HCCL_EXEC_TIMEOUT", hcclTimeout(v.Nodes, "360"))
	b.env("HCCL_IF_BASE_PORT", "64033")
}

// rlEnv is the environment of the published reinforcement run, and on several
// machines what their network needs.
func (b *builder) rlEnv(v preset.RLVerl) {
	b.env("HYDRA_FULL_ERROR", "1")
	b.env("PYTHONUNBUFFERED", "1")
	if v.Device != "npu" {
		return
	}
	b.env("ASCEND_RT_VISIBLE_DEVICES", ordinals(v.Devices))
	b.env("RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES", "1")
	b.env("VLLM_ASCEND_ENABLE_NZ", "0")
	b.env("TASK_QUEUE_ENABLE", "1")
	if v.Nodes == 1 {
		return
	}
	b.env("HCCL_CONNECT_TIMEOUT", hcclTimeout(v.Nodes, ""))
	b.env("HCCL_EXEC_TIMEOUT", hcclTimeout(v.Nodes, ""))
	if !b.keys.reads(ppo, "trainer.use_v1") { // it chooses the ports itself
		b.env("HCCL_HOST_SOCKET_PORT_RANGE", "60000-60050")
		b.env("HCCL_NPU_SOCKET_PORT_RANGE", "61000-61050")
	}
	b.note("set HCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to the interface that the machines share, before ray start")
}

// hcclTimeout gives machines an hour to find one another.
func hcclTimeout(nodes int, alone string) string {
	if nodes > 1 {
		return "3600"
	}
	return alone
}

func ordinals(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return strings.Join(all, ",")
}
