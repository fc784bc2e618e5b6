// Package grpo is reinforcement learning by GRPO (Shao et al., arXiv 2402.03300)
// with the tool loop: groups of answers to coding problems are sampled by the
// engine from the weights in training, a sandbox judges them, and the policy is
// updated towards those that are worth more than their group's mean.
//
// The mathematics and the names of the metrics are verl's. A run lives in a
// folder, like that of package sft, and a killed one goes on to the same bits.
package grpo
