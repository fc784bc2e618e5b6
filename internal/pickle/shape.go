package pickle

// walksPerValue bounds the work of checkShape: shared containers are measured
// again each time a call takes them.
const walksPerValue = 4

// checkShape refuses values that contain themselves or nest too deep, so that
// callers may walk them by recursion.
func (m *machine) checkShape(v any) error {
	s := shape{limit: m.limits.Depth, heights: map[any]int{}, left: walksPerValue*m.limits.Values - m.walked}
	before := s.left
	_, ok := s.height(v, 0)
	m.walked += before - s.left
	if !ok {
		return m.broken("containers nested deeper than %d, inside themselves, or shared too often", m.limits.Depth)
	}
	return nil
}

// shape measures nesting, each shared container once.
type shape struct {
	limit   int
	left    int         // values it may still look at
	heights map[any]int // by identity; -1 while being measured
}

func (s *shape) height(v any, depth int) (int, bool) {
	if s.left--; s.left < 0 || depth > s.limit {
		return 0, false
	}
	switch v := v.(type) {
	case Tuple:
		if len(v) == 0 {
			return 0, true
		}
		// The address of its first item is a tuple's identity.
		return s.once(&v[0], v, depth)
	case *List:
		return s.once(v, v.Items, depth)
	case *Dict:
		items := make([]any, 0, 2*len(v.Items))
		for _, item := range v.Items {
			items = append(items, item.Key, item.Value)
		}
		return s.once(v, items, depth)
	default:
		return 0, true
	}
}

func (s *shape) once(container any, items []any, depth int) (int, bool) {
	if known, seen := s.heights[container]; seen {
		return known, known >= 0 && depth+known <= s.limit
	}
	s.heights[container] = -1
	height, ok := s.highest(items, depth)
	s.heights[container] = height
	return height, ok
}

func (s *shape) highest(items []any, depth int) (int, bool) {
	height := 0
	for _, item := range items {
		h, ok := s.height(item, depth+1)
		if !ok {
			return 0, false
		}
		height = max(height, h+1)
	}
	return height, true
}
