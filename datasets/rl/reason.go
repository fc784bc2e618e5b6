package rl

// Reason is why a row was dropped.
type Reason string

// The reasons, in the order in which a row meets them.
const (
	NotUnicode    Reason = "not_unicode"         // a text column is not UTF-8
	NoSolution    Reason = "no_solution"         // gold_standard_solution is null or empty
	NotFenced     Reason = "solution_not_fenced" // it is not one fence of the language
	NoTests       Reason = "no_verification"     // verification_info is not text
	Unparsable    Reason = "unparsable"          // neither a Python literal nor JSON
	OtherLanguage Reason = "other_language"      // no dict, or for another language
	FewTests      Reason = "few_tests"           // test_cases is no list, or too short
	NoCase        Reason = "no_input_output"     // the first case has no input or output
	BadCase       Reason = "bad_case"            // another case has none; Python would stop here
	PythonRaises  Reason = "python_raises"       // a value that Python cannot parse or write; it would stop here
	Duplicate     Reason = "duplicate"           // with Options.Dedup
	GoldFails     Reason = "gold_fails"          // with Options.Verifier
	GoldFlaky     Reason = "gold_flaky"          // with Options.Verifier
	CannotVerify  Reason = "cannot_verify"       // with Options.Verifier: tests of no known form
)

// drop is a row that was dropped, and the one line that says why.
type drop struct {
	reason Reason
	detail string
}

func (d *drop) Error() string { return string(d.reason) + ": " + d.detail }
