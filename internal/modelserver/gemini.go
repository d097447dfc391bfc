package modelserver

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

type geminiPart struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

func readGemini(url string, body []byte, r *Request) error {
	var in struct {
		Contents          []geminiContent `json:"contents"`
		SystemInstruction geminiContent   `json:"systemInstruction"`
		Tools             []struct {
			FunctionDeclarations []struct {
				Name                 string          `json:"name"`
				Description          string          `json:"description"`
				Parameters           json.RawMessage `json:"parameters"`
				ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		GenerationConfig struct {
			ResponseMimeType string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	var verb string
	r.Model, verb, _ = strings.Cut(path.Base(url), ":")
	r.Stream = verb == "streamGenerateContent"
	if in.GenerationConfig.ResponseMimeType == "application/json" {
		r.Form = "json_schema"
	}
	for _, p := range in.SystemInstruction.Parts {
		r.System += p.Text
	}
	open := map[string][]string{}
	for _, c := range in.Contents {
		r.Turns = append(r.Turns, geminiTurn(c, open))
	}
	for _, group := range in.Tools {
		for _, t := range group.FunctionDeclarations {
			schema := t.Parameters
			if len(schema) == 0 {
				schema = t.ParametersJSONSchema
			}
			r.Tools = append(r.Tools, Tool{t.Name, t.Description, schema})
		}
	}
	return nil
}

// geminiTurn reads one turn. Calls and responses may lack an id there: then they
// belong together by their name, in order; open holds what waits for a response.
func geminiTurn(c geminiContent, open map[string][]string) Turn {
	t := Turn{Role: "user"}
	if c.Role == "model" {
		t.Role = "assistant"
	}
	var said []string
	for i, p := range c.Parts {
		switch {
		case p.FunctionCall != nil:
			f := p.FunctionCall
			id := f.ID
			if id == "" {
				id = fmt.Sprintf("%s_%d_%d", f.Name, len(open[f.Name]), i)
			}
			open[f.Name] = append(open[f.Name], id)
			t.Calls = append(t.Calls, Call{id, f.Name, string(f.Args)})
		case p.FunctionResponse != nil:
			f := p.FunctionResponse
			id := f.ID
			if waiting := open[f.Name]; len(waiting) > 0 {
				if id == "" {
					id = waiting[0]
				}
				open[f.Name] = waiting[1:]
			}
			t.Results = append(t.Results, Result{id, string(f.Response)})
		case p.Text != "" && !p.Thought:
			said = append(said, p.Text)
		}
	}
	t.Text = strings.Join(said, "\n")
	if t.Role == "assistant" && t.Text == "" && len(t.Calls) == 0 {
		t.Text = "(thought)"
	}
	return t
}

func geminiUsage(u Usage) object {
	in := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"promptTokenCount": in, "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output - u.Reasoning,
		"thoughtsTokenCount": u.Reasoning, "totalTokenCount": in + u.Output,
	}
}

func geminiReason(r Reply) string {
	switch r.Stop {
	case Length:
		return "MAX_TOKENS"
	case Refused:
		return "SAFETY"
	}
	return "STOP"
}

func geminiChunk(req Request, parts []any, reason string, u any) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	out := object{"candidates": []any{candidate}, "modelVersion": req.Model, "responseId": fmt.Sprintf("gemini_%d", req.N)}
	if u != nil {
		out["usageMetadata"] = u
	}
	return out
}

func geminiCalls(r Reply) []any {
	out := []any{} // a client stumbles over null
	for _, c := range r.Calls {
		out = append(out, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": jsonOr(c.Args)}})
	}
	return out
}

func wholeGemini(req Request, r Reply) any {
	var parts []any
	if r.Text != "" {
		parts = append(parts, object{"text": r.Text})
	}
	return geminiChunk(req, append(parts, geminiCalls(r)...), geminiReason(r), geminiUsage(r.Usage))
}

func geminiEvents(req Request, r Reply) []event {
	var out []event
	for _, p := range pieces(r.Text, r.Parts) {
		out = append(out, event{data: geminiChunk(req, []any{object{"text": p}}, "", nil)})
	}
	return append(out, event{data: geminiChunk(req, geminiCalls(r), geminiReason(r), geminiUsage(r.Usage))})
}
