package agents

import "context"

// Ask lets a role answer task.Prompt, which the caller has made, and hands the answer
// on as it is. It is for the roles around a round, whose documents others know.
func (t *Team) Ask(ctx context.Context, task Task) (Answer, error) {
	if err := t.fill(&task); err != nil {
		return Answer{}, err
	}
	return t.run(ctx, task)
}
