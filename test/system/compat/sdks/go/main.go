// Calls of the official SDK for Go; prints what came of them as JSON. RESEND_BASE_URL names the address, and the
// arguments are the token, a webhook's body, its headers (id, timestamp, signature) and its secret.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/resend/resend-go/v3"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	client := resend.NewClient(os.Args[1])
	found := map[string]any{}
	content := make([]byte, 300_000)
	for n := range content {
		content[n] = byte(n)
	}
	message := &resend.SendEmailRequest{
		From: "Ann <ann@sender.example>", To: []string{"bob@example.net"}, Subject: "Hello", Text: "Hello Bob",
		Attachments: []*resend.Attachment{
			{Content: content, Filename: "large.bin"},
			{Content: []byte("png"), Filename: "logo.png", InlineContentId: "logo"},
		},
	}
	sent := must(client.Emails.Send(message))
	found["id"] = sent.Id
	shown := must(client.Emails.Get(sent.Id))
	found["shown"] = []any{shown.From, shown.To, shown.Subject, shown.LastEvent}
	plain := &resend.SendEmailRequest{From: message.From, To: message.To, Subject: "Hi", Text: "Hi"}
	options := &resend.SendEmailOptions{IdempotencyKey: "go-1"}
	first := must(client.Emails.SendWithOptions(context.Background(), plain, options))
	found["same"] = must(client.Emails.SendWithOptions(context.Background(), plain, options)).Id == first.Id
	later := *plain
	later.ScheduledAt = "in 1 hour"
	scheduled := must(client.Emails.Send(&later)).Id
	update := &resend.UpdateEmailRequest{Id: scheduled, ScheduledAt: "2026-12-20T11:52:01.858Z"}
	found["updated"] = must(client.Emails.Update(update)).Id == scheduled
	found["canceled"] = must(client.Emails.Cancel(scheduled)).Id == scheduled
	limit := 1
	list := must(client.Emails.ListWithOptions(context.Background(), &resend.ListOptions{Limit: &limit}))
	found["listed"] = []any{list.Data[0].Id == scheduled, list.HasMore}
	bad := *plain
	bad.To = []string{"nobody"}
	batch := must(client.Batch.SendWithOptions(context.Background(), []*resend.SendEmailRequest{plain, &bad},
		&resend.BatchSendEmailOptions{BatchValidation: resend.BatchValidationPermissive}))
	found["batch"] = []any{len(batch.Data), batch.Errors[0].Index}

	domain := must(client.Domains.Create(&resend.CreateDomainRequest{Name: "go.example"}))
	found["domain"] = []any{domain.Status, len(domain.Records) > 3}
	found["verified"] = must(client.Domains.Verify(domain.Id))
	found["removed"] = must(client.Domains.Remove(domain.Id))
	key := must(client.ApiKeys.Create(&resend.CreateApiKeyRequest{Name: "Go"}))
	found["key"] = must(client.ApiKeys.Remove(key.Id))
	template := must(client.Templates.Create(&resend.CreateTemplateRequest{
		Name: "go", Subject: "Hi", Html: "<p>{{{NAME}}}</p>",
		Variables: []*resend.TemplateVariable{{Key: "NAME", Type: resend.VariableTypeString, FallbackValue: "you"}},
	}))
	must(client.Templates.Publish(template.Id))
	found["template"] = must(client.Templates.Get("go")).Status
	must(client.Templates.Remove(template.Id))
	hook := must(client.Webhooks.Create(&resend.CreateWebhookRequest{
		Endpoint: "http://127.0.0.1:9/", Events: []string{"email.sent"},
	}))
	found["webhook"] = must(client.Webhooks.Get(hook.Id)).Status
	must(client.Webhooks.Remove(hook.Id))

	_, err := client.Emails.Send(&resend.SendEmailRequest{From: "eve@other.example", To: plain.To, Subject: "x", Text: "x"})
	found["refused"] = err.Error()
	err = client.Webhooks.Verify(&resend.VerifyWebhookOptions{
		Payload:       os.Args[2],
		Headers:       resend.WebhookHeaders{Id: os.Args[3], Timestamp: os.Args[4], Signature: os.Args[5]},
		WebhookSecret: os.Args[6],
	})
	found["signature"] = err == nil
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
