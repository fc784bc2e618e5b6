package pickle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// show renders a value in the notation of testdata/golden.py.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return fmt.Sprintf("%q", v)
	case Bytes:
		return fmt.Sprintf("b%q", string(v))
	case Tuple:
		return "(" + showAll(v) + ")"
	case *List:
		return "[" + showAll(v.Items) + "]"
	case *Dict:
		var items []string
		for _, item := range v.Items {
			items = append(items, show(item.Key)+":"+show(item.Value))
		}
		return "{" + strings.Join(items, " ") + "}"
	default:
		return fmt.Sprint(v)
	}
}

func showAll(items []any) string {
	var texts []string
	for _, item := range items {
		texts = append(texts, show(item))
	}
	return strings.Join(texts, " ")
}

func TestDecodesWhatPythonWrites(t *testing.T) {
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Name, Pickle, Show string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		data, err := base64.StdEncoding.DecodeString(row.Pickle)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Decode(data, Options{})
		if err != nil {
			t.Errorf("%s: %v", row.Name, err)
		} else if got := show(v); got != row.Show {
			t.Errorf("%s: got %s, want %s", row.Name, got, row.Show)
		}
	}
}

func TestSharedListStaysOne(t *testing.T) {
	v, err := Decode([]byte("\x80\x02](]q\x00h\x00e."), Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := v.(*List).Items
	if len(items) != 2 || items[0] != items[1] {
		t.Errorf("got %v, want the same list twice", items)
	}
}

func TestForbidden(t *testing.T) {
	for name, data := range map[string]string{
		"GLOBAL":       "\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.",
		"STACK_GLOBAL": "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R.",
		"INST":         "(ios\nsystem\n.",
		"OBJ":          "(o.",
		"NEWOBJ":       "cos\nsystem\n)\x81.",
		"EXT1":         "\x82\x01.",
		"PERSID":       "X\x01\x00\x00\x00aQ.",
		"text PERSID":  "Pabc\n.",
		"FROZENSET":    "(\x91.",
		"DUP":          "N2.",
	} {
		_, err := Decode([]byte(data), Options{})
		var forbidden *ForbiddenError
		if !errors.As(err, &forbidden) {
			t.Errorf("%s: got %v, want a ForbiddenError", name, err)
		}
	}
}

func TestBroken(t *testing.T) {
	deep := strings.Repeat("]", 200) + strings.Repeat("a", 199) + "."
	// Twenty levels of a tuple holding the last one twice: 2^20 if walked naively.
	bomb := ")q\x00" + strings.Repeat("h\x00h\x00\x86q\x00", 200) + "."
	for name, data := range map[string]string{
		"empty":             "",
		"no stop":           "N",
		"empty stack":       ".",
		"after the end":     "N.N",
		"left over":         "NN.",
		"length lies":       "X\xff\xff\xff\x7fab.",
		"length of 8 lies":  "\x8d\xff\xff\xff\xff\xff\xff\xff\xffab.",
		"not UTF-8":         "X\x01\x00\x00\x00\xff.",
		"no mark":           "]e.",
		"append to a str":   "X\x00\x00\x00\x00Na.",
		"pop beyond mark":   "N(0.",
		"odd items":         "}(Nu.",
		"list as key":       "}]Ns.",
		"unknown memo":      "h\x05.",
		"newer protocol":    "\x80\x09N.",
		"itself":            "]q\x00h\x00a.",
		"nested":            deep,
		"nested and shared": bomb,
	} {
		_, err := Decode([]byte(data), Options{})
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: got %v, want a FormatError", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	data := []byte("](K\x01q\x00K\x02q\x01e.")
	for name, limits := range map[string]Limits{
		"bytes": {Bytes: 5}, "values": {Values: 2}, "memo": {Memo: 1},
	} {
		if _, err := Decode(data, Options{Limits: limits}); err == nil {
			t.Errorf("%s: decoded beyond the limit", name)
		}
	}
	if _, err := Decode(data, Options{}); err != nil {
		t.Errorf("within the limits: %v", err)
	}
}

// ordered stands for collections.OrderedDict.
type ordered struct {
	Dict
	state any
}

func (o *ordered) SetState(state any) error { o.state = state; return nil }

// TestAllowedGlobals decodes the shape of a torch state dict: an OrderedDict of
// tensors rebuilt from storages that persistent ids name.
func TestAllowedGlobals(t *testing.T) {
	data := "\x80\x02ccollections\nOrderedDict\n)R(X\x01\x00\x00\x00w" +
		"ct\nrebuild\n(X\x07\x00\x00\x00storagect\nFloatStorage\ntQK\x02\x86Ru}X\x01\x00\x00\x00vK\x01sb."
	opts := Options{
		Globals: map[Global]Constructor{
			{"collections", "OrderedDict"}: func(Tuple) (any, error) { return &ordered{}, nil },
			{"t", "rebuild"}:               func(args Tuple) (any, error) { return "tensor" + showAll(args), nil },
			{"t", "FloatStorage"}:          nil,
		},
		Persistent: func(id any) (any, error) { return id.(Tuple)[1], nil },
	}
	v, err := Decode([]byte(data), opts)
	if err != nil {
		t.Fatal(err)
	}
	o := v.(*ordered)
	if w, _ := o.Get("w"); w != "tensor{t FloatStorage} 2" {
		t.Errorf("got w = %v", w)
	}
	if show(o.state) != `{"v":1}` {
		t.Errorf("got state %s", show(o.state))
	}
	if _, err := Decode([]byte("ct\nFloatStorage\n)R."), opts); !errors.As(err, new(*ForbiddenError)) {
		t.Errorf("calling a name without a constructor: got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x04abcd\x94."))
	f.Add([]byte("\x80\x02}q\x00(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00b]u."))
	f.Add([]byte("ccollections\nOrderedDict\n)R."))
	opts := Options{
		Globals: map[Global]Constructor{{"collections", "OrderedDict"}: func(Tuple) (any, error) { return &Dict{}, nil }},
		Limits:  Limits{Values: 10_000, Depth: 20},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Decode(data, opts)
		if err != nil && !errors.As(err, new(*ForbiddenError)) && !errors.As(err, new(*FormatError)) {
			t.Fatalf("an error of no type: %v", err)
		}
	})
}
