package track

import (
	"errors"
	"fmt"
	"slices"
)

// ValidateInput names the documents of one `si validate`.
type ValidateInput struct {
	Plan     string   // path of a plan, or ""
	Result   string   // path of a result, or ""
	Families []string // families that the plan may have; nil allows any
}

// Validate names every fault of a plan and of a result as files, each with its
// path. The error says that a file could not be read at all.
func Validate(in ValidateInput) ([]string, error) {
	var all []string
	if in.Plan != "" {
		list, err := validateFile(in.Plan, planFields(), func(p *Plan) []string { return ValidatePlan(*p, in.Families) })
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if in.Result != "" {
		list, err := validateFile(in.Result, resultFields(), func(r *Result) []string { return ValidateResult(*r) })
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// planFields must stand in a plan's file even where their value may be empty.
func planFields() []string {
	return []string{"round", "critic_approved", "expected_outcome", "history_reference"}
}

func resultFields() []string {
	return []string{"benchmark_score", "benchmark_raw", "sub_scores", "failure_analysis"}
}

func validateFile[T any](path string, fields []string, check func(*T) []string) ([]string, error) {
	data, err := readDocument(path)
	var fe *FileError
	if errors.As(err, &fe) {
		return []string{fe.Error()}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	var doc T
	if err := Decode(path, data, &doc); err != nil {
		return []string{err.Error()}, nil
	}
	object, err := parseObject(data)
	if err != nil {
		return []string{path + ": " + err.Error()}, nil
	}
	list := check(&doc)
	for _, name := range fields {
		if _, had := object.get(name); !had && !slices.Contains(list, name+": missing") {
			list = append(list, name+": missing")
		}
	}
	for i, fault := range list {
		list[i] = (&FileError{Path: path, Line: faultLine(data, fault), What: fault}).Error()
	}
	return list, nil
}
