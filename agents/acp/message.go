package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

const (
	maxLine = 4 << 20 // bytes of a message; longer ones are passed over
	maxID   = 256     // bytes of a message's id
)

// sort says what a line is.
type sort int

const (
	stray sort = iota // no message of the protocol
	request
	notification
	reply
)

// message is one line of the program. All that any message may hold is read at
// once: a field of another type than the protocol's stays empty and spoils
// nothing else.
type message struct {
	sort sort
	long bool // only its beginning was read

	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params params          `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type params struct {
	SessionID string   `json:"sessionId"`
	Update    update   `json:"update"`   // session/update
	ToolCall  update   `json:"toolCall"` // session/request_permission
	Options   []option `json:"options"`
}

// option is one answer to a request for permission.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once, reject_always
}

// update is what a session tells, of whatever kind.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // an object in a chunk, a list in a tool call
	MessageID string          `json:"messageId"`

	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`
	ToolKind   string          `json:"kind"`
	Status     string          `json:"status"`
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`
	Locations  []struct {
		Path string `json:"path"`
	} `json:"locations"`

	Entries []planEntry `json:"entries"`
	Mode    string      `json:"currentModeId"`
	Cost    *struct {
		Amount   *float64 `json:"amount"`
		Currency string   `json:"currency"`
	} `json:"cost"`
	Meta meta `json:"_meta"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// meta is what programs add to messages beyond the protocol.
type meta struct {
	Usage      *usage `json:"usage"` // qwen: of one request to its model
	ClaudeCode struct {
		ToolName string `json:"toolName"`
	} `json:"claudeCode"`
	Quota struct {
		Tokens *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"` // gemini: of the turn
}

// read takes a line for what it is. It never fails: what is no message is stray.
func read(line []byte) message {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return message{}
	}
	if len(line) > maxLine {
		return beginning(line)
	}
	var m message
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(line, &m); err != nil && !errors.As(err, &wrongType) {
		return message{}
	}
	m.sort = m.kind()
	return m
}

func (m *message) kind() sort {
	switch {
	case m.Method != "" && idKey(m.ID) == "":
		return notification
	case m.Method != "":
		return request
	case m.Error != nil, len(m.Result) > 0, idKey(m.ID) != "":
		return reply
	}
	return stray
}

// beginning reads what it can of a message that was cut: with its id it can be
// answered, so that the program does not wait for ever.
func beginning(line []byte) message {
	m := message{long: true}
	dec := json.NewDecoder(bytes.NewReader(line[:64<<10]))
	if _, err := dec.Token(); err != nil {
		return m
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return m
		}
		var value json.RawMessage
		switch name {
		case "id":
			err = dec.Decode(&m.ID)
		case "method":
			err = dec.Decode(&m.Method)
		case "result":
			m.Result = json.RawMessage("null")
		default:
			err = dec.Decode(&value)
		}
		if m.sort = m.kind(); err != nil || name == "result" {
			return m
		}
	}
}

// idKey tells ids apart. Programs answer a number with a text, or with 1.0; no id,
// null, and what cannot be one are "".
func idKey(raw json.RawMessage) string {
	if len(raw) == 0 || len(raw) > maxID {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}
