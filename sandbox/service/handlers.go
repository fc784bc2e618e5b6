package service

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
)

func (s *Service) serveRun(ctx context.Context, w http.ResponseWriter, guest *visit, body raw) {
	request, faults := parseRun(body, s.languages)
	if len(faults) > 0 {
		writeProblems(w, faults)
		return
	}
	answer, err := s.runCode(ctx, guest, request)
	if err != nil {
		w.Header().Set("Retry-After", strconv.Itoa(s.retryAfter()))
		writeDetail(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	s.sign(&answer)
	s.answer(ctx, w, answer)
}

func (s *Service) serveEvaluate(ctx context.Context, w http.ResponseWriter, guest *visit, body raw) {
	request, faults := parseSubmit(body, s.languages)
	switch {
	case len(faults) > 0:
		writeProblems(w, faults)
		return
	case request.config.language == "":
		writeDetail(w, http.StatusBadRequest, "config.language field must exist, got None")
		return
	}
	if err := request.config.extra.rules(); err != nil {
		writeDetail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	cases := parseCases(&faults, request.config.data)
	var task AssertTask
	if len(cases) == 1 && cases[0].kind == assertions {
		task = parseAssert(&faults, request.config.data, request.config.language)
	}
	if len(faults) > 0 {
		writeProblems(w, faults)
		return
	}
	response, err := s.evaluateRequest(ctx, guest, request, cases, task)
	switch {
	case errors.As(err, new(*extractError)):
		writeDetail(w, http.StatusBadRequest, err.Error())
	case err != nil:
		if !canceled(ctx) {
			writeDetail(w, http.StatusInternalServerError, s.fault(ctx, "evaluate", err))
		}
	default:
		s.answer(ctx, w, response)
	}
}

// evaluateRequest extracts the program and judges it.
func (s *Service) evaluateRequest(ctx context.Context, guest *visit, r submitRequest, cases []testCase, task AssertTask) (evalResponse, error) {
	code, err := s.extract(ctx, guest.client, r)
	if err != nil {
		return evalResponse{}, err
	}
	response := evalResponse{ID: r.id.strict(), ExtractedCode: code, Tests: []testResponse{}}
	switch {
	case len(cases) == 0:
		response.Extra = map[string]string{"error": "there are no test cases, so nothing was tested"}
	case cases[0].kind == assertions:
		task.Language, task.Code, task.CompileTime = r.config.language, code, r.config.compileTime
		task.Limits = s.limits(r.config.runTime, r.config.memory)
		result, row, err := s.evaluateAssert(ctx, guest.client, task)
		if err != nil {
			return evalResponse{}, err
		}
		response.ExtractedCode, response.FullCode = result.Extracted, &result.FullCode
		response.Tests = append(response.Tests, row)
	default:
		response.Tests, err = s.evaluate(ctx, guest, r.config, code, cases)
		if err != nil {
			return evalResponse{}, err
		}
	}
	failed := func(row testResponse) bool { return !row.Passed }
	response.Accepted = len(cases) > 0 && len(response.Tests) == len(cases) && !slices.ContainsFunc(response.Tests, failed)
	for i := range response.Tests {
		s.sign(&response.Tests[i].ExecInfo)
	}
	return response, nil
}

// sign puts the name of this place on an answer.
func (s *Service) sign(r *runResponse) {
	if s.cfg.Pod != "" {
		r.PodName = &s.cfg.Pod
	}
}

// answer writes an answer, unless the client has gone.
func (s *Service) answer(ctx context.Context, w http.ResponseWriter, v any) {
	if canceled(ctx) {
		return
	}
	writeJSON(w, http.StatusOK, v)
}
