// Package logs reads the logs of training runs, of verl in all its versions and
// of cr itself, and makes one table of them and the figures of a comparison.
//
// A log is what a run printed: metric lines among those of many processes,
// behind Ray's prefixes and colours, glued to progress bars, cut off by a kill,
// repeated by a resume. The rules:
//
//   - A row is a step. Where steps come again after a restart, the later run
//     trained them and its values stand; a validation that the restart repeats
//     replaces only validation values.
//   - A column is a metric under the name it was logged with, in the order of
//     first appearance. What was not logged is missing, never 0.
//   - nan and inf are values. What is no number is missing, and counted with the
//     first place where it stood.
//   - Counts of speculative decoding are summed over all engines and windows of
//     a step, then divided; ratios are never averaged.
//
// Files are read as a stream: memory grows with the metrics found, not with the
// size of the logs.
package logs
