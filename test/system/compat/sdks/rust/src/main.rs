//! Calls of the official SDK for Rust; prints what came of them as JSON. RESEND_BASE_URL names the address, and the
//! argument is the token.
use resend_rs::events::EmailEventType;
use resend_rs::list_opts::ListOptions;
use resend_rs::types::{
    AddSuppressionOptions, CreateApiKeyOptions, CreateAttachment, CreateDomainOptions, CreateEmailBaseOptions,
    CreateTemplateOptions, CreateWebhookOptions, Tag, UpdateEmailOptions, Variable, VariableType,
};
use resend_rs::{Error, Resend, Result};
use serde_json::json;

fn message() -> CreateEmailBaseOptions {
    CreateEmailBaseOptions::new("Ann <ann@sender.example>", ["bob@example.net"], "Hello").with_text("Hello Bob")
}

fn main() -> Result<()> {
    let resend = Resend::new(&std::env::args().nth(1).expect("a token"));
    let content: Vec<u8> = (0..=255).collect();
    let attached = CreateAttachment::from_content(content).with_filename("a.bin").with_content_type("application/x-a");
    let sent = resend.emails.send(message().with_attachment(attached).with_tag(Tag::new("kind", "order")))?;
    let shown = resend.emails.get(&sent.id)?;
    let first = resend.emails.send(message().with_idempotency_key("rust-1"))?;
    let again = resend.emails.send(message().with_idempotency_key("rust-1"))?;
    let later = resend.emails.send(message().with_scheduled_at("in 1 hour"))?;
    resend.emails.update(&later.id, UpdateEmailOptions::new().with_scheduled_at("2026-12-20T11:52:01.858Z"))?;
    resend.emails.cancel(&later.id)?;
    let listed = resend.emails.list(ListOptions::default())?;
    let batch = resend.batch.send(vec![message(), message()])?;

    let domain = resend.domains.create(CreateDomainOptions::new("rust.example"))?;
    resend.domains.verify(&domain.id)?;
    let records = resend.domains.get(&domain.id)?.records.unwrap_or_default().len();
    let domains = resend.domains.list(ListOptions::default())?.len();
    let removed = resend.domains.delete(&domain.id)?.deleted;
    let key = resend.api_keys.create(CreateApiKeyOptions::new("Rust"))?;
    let keys = resend.api_keys.list(ListOptions::default())?.len();
    resend.api_keys.delete(&key.id)?;
    let entry = resend.suppressions.add(AddSuppressionOptions::new().with_email("rust@example.net"))?;
    let origin = format!("{:?}", resend.suppressions.get("rust@example.net")?.origin);
    let _ = resend.suppressions.remove(&entry.id)?;
    let variable = Variable::new("NAME", VariableType::String).with_fallback("you");
    let options = CreateTemplateOptions::new("rust", "<p>{{{NAME}}}</p>").with_subject("Hi").with_variable(variable);
    let template = resend.templates.create(options)?;
    resend.templates.publish(&template.id)?;
    let status = format!("{:?}", resend.templates.get("rust")?.status);
    resend.templates.delete(&template.id)?;
    let options = CreateWebhookOptions::new("http://127.0.0.1:9/", [EmailEventType::EmailBounced]);
    let webhook = resend.webhooks.create(options)?;
    let webhooks = resend.webhooks.list(ListOptions::default())?.len();
    let hook = resend.webhooks.get(&webhook.id)?.status;
    resend.webhooks.delete(&webhook.id)?;

    let refused = match resend.emails.send(CreateEmailBaseOptions::new("eve@other.example", ["b@example.net"], "x")) {
        Err(Error::Resend(error)) => json!([error.status_code, error.name]),
        other => json!(format!("{other:?}")),
    };
    let found = json!({
        "id": sent.id.to_string(), "shown": [shown.from, shown.to, shown.subject, format!("{:?}", shown.last_event)],
        "same": first.id == again.id, "listed": listed.len() >= 4, "batch": batch.len(),
        "domain": [format!("{:?}", domain.status), records > 3, domains, removed], "keys": keys >= 2,
        "suppression": origin, "template": status, "webhook": [webhooks, hook], "refused": refused,
    });
    println!("{found}");
    Ok(())
}
