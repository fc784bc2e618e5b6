package weights

import (
	"strconv"
	"strings"
)

// huggingFaceName translates a tensor name of the llama and qwen3 GGUF layouts:
// "blk.3.attn_q.weight" is "model.layers.3.self_attn.q_proj.weight".
func huggingFaceName(name string) (string, bool) {
	stem, suffix := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		stem, suffix = name[:dot], name[dot:]
	}
	switch stem {
	case "token_embd":
		return "model.embed_tokens" + suffix, true
	case "output_norm":
		return "model.norm" + suffix, true
	case "output":
		return "lm_head" + suffix, true
	}
	block, rest, ok := strings.Cut(strings.TrimPrefix(stem, "blk."), ".")
	if !ok || !strings.HasPrefix(stem, "blk.") || !isDecimal(block) {
		return "", false
	}
	part := layerPart(rest)
	if part == "" {
		return "", false
	}
	return "model.layers." + block + "." + part + suffix, true
}

// isDecimal accepts a number in its one canonical form, so that two names in
// the file cannot become the same one.
func isDecimal(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

func layerPart(name string) string {
	switch name {
	case "attn_norm":
		return "input_layernorm"
	case "attn_q":
		return "self_attn.q_proj"
	case "attn_k":
		return "self_attn.k_proj"
	case "attn_v":
		return "self_attn.v_proj"
	case "attn_output":
		return "self_attn.o_proj"
	case "attn_q_norm":
		return "self_attn.q_norm"
	case "attn_k_norm":
		return "self_attn.k_norm"
	case "ffn_norm":
		return "post_attention_layernorm"
	case "ffn_gate":
		return "mlp.gate_proj"
	case "ffn_up":
		return "mlp.up_proj"
	case "ffn_down":
		return "mlp.down_proj"
	}
	return ""
}

// splitPairs undoes the row order that GGUF's converter gives the query and key
// projections of the llama architecture. There the two halves of a rotary pair
// are neighbours; here, as in Hugging Face files, they lie half a head apart:
// row j of half h of a head is stored at 2j+h. Rows are whole blocks, so that
// quantised tensors need no decoding.
func splitPairs(data []byte, rows, heads int) []byte {
	split := make([]byte, len(data))
	rowBytes := len(data) / rows
	headDim := rows / heads
	half := headDim / 2
	for row := range rows {
		head, within := row/headDim*headDim, row%headDim
		source := head + within%half*2 + within/half
		copy(split[row*rowBytes:(row+1)*rowBytes], data[source*rowBytes:(source+1)*rowBytes])
	}
	return split
}
