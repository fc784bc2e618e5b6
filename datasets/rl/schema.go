package rl

import (
	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/table"
)

// schemaOf is what verl's RLHFDataset reads, in the recipe's order of columns.
func schemaOf(extraInfo bool) *parquet.Schema {
	columns := []table.Column{
		{Name: "prompt", Node: table.List(table.Nullable(table.Struct(
			table.Column{Name: "role", Node: table.Label()},
			table.Column{Name: "content", Node: table.Text()},
		)))},
		{Name: "solutions", Node: table.List(table.Text())},
		{Name: "reward_model", Node: table.Nullable(table.Struct(
			table.Column{Name: "ground_truth", Node: table.Text()},
			table.Column{Name: "style", Node: table.Label()},
		))},
		{Name: "data_source", Node: table.Label()},
	}
	if extraInfo {
		columns = append(columns, table.Column{Name: "extra_info", Node: table.Nullable(table.Struct(
			table.Column{Name: "index", Node: table.Int64()},
			table.Column{Name: "split", Node: table.Label()},
		))})
	}
	return table.Schema(table.Struct(columns...))
}

// longText are the columns whose values are too long for statistics of pages.
var longText = [][]string{
	{"prompt", "list", "element", "content"},
	{"solutions", "list", "element"},
	{"reward_model", "ground_truth"},
}

// Definition levels of the leaf columns: how many of a value's nullable or
// repeated ancestors, itself included, are there.
const (
	levelMessage   = 4 // prompt, list, element, role or content
	levelSolution  = 3 // solutions, list, element
	levelMember    = 2 // reward_model or extra_info, member
	levelTop       = 1 // data_source
	leafRole       = 0
	leafContent    = 1
	leafSolution   = 2
	leafTruth      = 3
	leafStyle      = 4
	leafDataSource = 5
	leafIndex      = 6
	leafSplit      = 7
)

// constants are texts that every row has.
var (
	userRole  = []byte("user")
	ruleStyle = []byte("rule")
)

// appendRow appends a record's values, a leaf column each.
func appendRow(row parquet.Row, c cells) parquet.Row {
	return append(row,
		text(userRole, levelMessage, leafRole),
		text(c.prompt, levelMessage, leafContent),
		text(c.solution, levelSolution, leafSolution),
		text(c.groundTruth, levelMember, leafTruth),
		text(ruleStyle, levelMember, leafStyle),
		text(c.source, levelTop, leafDataSource),
	)
}

func appendExtra(row parquet.Row, index int, part string) parquet.Row {
	return append(row,
		parquet.Int64Value(int64(index)).Level(0, levelMember, leafIndex),
		text([]byte(part), levelMember, leafSplit),
	)
}

// text is a value at level, or null for nil.
func text(b []byte, level, leaf int) parquet.Value {
	if b == nil {
		return parquet.NullValue().Level(0, level-1, leaf)
	}
	return parquet.ByteArrayValue(b).Level(0, level, leaf)
}
