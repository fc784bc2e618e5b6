package weights

import "bytes"

const (
	embeddings = "model.embed_tokens.weight"
	outputHead = "lm_head.weight"
)

// resolveTie settles what a folder's tie flag means for its tensors, with
// transformers' rule: tensors that differ are not tied whatever the flag, and
// a tensor missing on one side of a tie is the other. Untied without an output
// projection, transformers starts from random numbers; here that is an error.
func (c *Checkpoint) resolveTie() error {
	embed, hasEmbed := c.tensors[embeddings]
	head, hasHead := c.tensors[outputHead]
	switch {
	case !hasEmbed && !hasHead:
		return &MissingTensorError{Tensor: embeddings}
	case !c.config.TieEmbeddings && !hasHead:
		return ErrUntied
	case !c.config.TieEmbeddings && !hasEmbed:
		return &MissingTensorError{Tensor: embeddings}
	case !c.config.TieEmbeddings:
		return nil
	case !hasHead:
		return nil
	case !hasEmbed:
		c.tensors[embeddings] = head
		return nil
	}
	if !sameTensor(embed, head) {
		c.config.TieEmbeddings = false
		c.notices = append(c.notices, "config.json says tie_word_embeddings, but lm_head.weight differs from "+
			"model.embed_tokens.weight: both are used, untied")
	}
	return nil
}

func sameTensor(a, b stored) bool {
	return a.dtype == b.dtype && a.foreign == b.foreign && bytes.Equal(a.data, b.data)
}
