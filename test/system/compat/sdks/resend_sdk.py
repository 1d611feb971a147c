"""Calls of the official SDK for Python; prints what came of them as JSON. Arguments: address, token."""
import json
import sys

import resend

resend.api_url, resend.api_key = sys.argv[1:3]
found = {}


def error_of(call):
    try:
        call()
    except resend.exceptions.ResendError as error:
        return [type(error).__name__, error.code, error.error_type]
    return None


message = {"from": "Ann <ann@sender.example>", "to": ["bob@example.net"], "subject": "Hello", "text": "Hello Bob"}
attachments = [
    {"filename": "ints.bin", "content": list(bytes(range(256)))},
    {"filename": "a.txt", "content": "dGV4dA==", "content_type": "text/plain"},
]
sent = resend.Emails.send({**message, "attachments": attachments, "tags": [{"name": "kind", "value": "order"}]})
found["id"] = sent["id"]
shown = resend.Emails.get(sent["id"])
found["shown"] = [shown["from"], shown["to"], shown["subject"], shown["last_event"], shown["tags"]]
options = {"idempotency_key": "py-1"}
found["same"] = resend.Emails.send(message, options)["id"] == resend.Emails.send(message, options)["id"]
scheduled = resend.Emails.send({**message, "scheduled_at": "in 1 min"})["id"]
found["updated"] = resend.Emails.update({"id": scheduled, "scheduled_at": "2026-12-20T11:52:01.858Z"})["id"] == scheduled
found["canceled"] = resend.Emails.cancel(scheduled)["id"] == scheduled
found["status"] = resend.Emails.get(scheduled)["last_event"]
found["listed"] = resend.Emails.list({"limit": 1})["data"][0]["id"] == scheduled
batch = resend.Batch.send([message, {**message, "to": ["nobody"]}], {"batch_validation": "permissive"})
found["batch"] = [len(batch["data"]), [error["index"] for error in batch["errors"]]]

domain = resend.Domains.create({"name": "python.example"})
found["domain"] = [domain["status"], sorted({record["record"] for record in domain["records"]})]
resend.Domains.verify(domain["id"])
found["domains"] = [one["name"] for one in resend.Domains.list()["data"]]
found["removed"] = resend.Domains.remove(domain["id"])["deleted"]
key = resend.ApiKeys.create({"name": "Python", "permission": "sending_access"})
found["keys"] = "Python" in [one["name"] for one in resend.ApiKeys.list()["data"]]
resend.ApiKeys.remove(key["id"])
resend.Suppressions.add({"email": "gone@example.net"})
found["suppression"] = resend.Suppressions.get("gone@example.net")["origin"]
resend.Suppressions.remove("gone@example.net")
template = resend.Templates.create({"name": "python", "subject": "Hi", "html": "<p>{{{NAME}}}</p>", "variables": [
    {"key": "NAME", "type": "string", "fallback_value": "you"}]})
resend.Templates.publish(template["id"])
found["template"] = resend.Templates.get(template["id"])["status"]
resend.Templates.remove(template["id"])
webhook = resend.Webhooks.create({"endpoint": "http://127.0.0.1:9/", "events": ["email.sent"]})
found["webhook"] = resend.Webhooks.get(webhook["id"])["events"]
resend.Webhooks.remove(webhook["id"])

found["errors"] = {
    "field": error_of(lambda: resend.Emails.send({"from": "ann@sender.example", "to": "bob@example.net"})),
    "sender": error_of(lambda: resend.Emails.send({**message, "from": "eve@other.example"})),
    "unknown": error_of(lambda: resend.Emails.get("em_00000000000000000000000000")),
    "unserved": error_of(lambda: resend.Contacts.get(id="c", audience_id="a")),
}
resend.api_key = "re_wrong"
found["errors"]["key"] = error_of(lambda: resend.Emails.send(message))
print(json.dumps(found))
