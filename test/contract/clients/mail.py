"""Uses the client that was generated from the document of the mail API; prints what it got. Arguments: address, token."""

import json
import sys

from client import AuthenticatedClient
from client.api.domains import list_domains
from client.api.emails import get_email, get_raw_email, list_emails, send, send_email, send_email_batch
from client.models import EmailRequest, SendRequest
from client.models.send_email_dry_run import SendEmailDryRun

api = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)
message = {
    "from": {"email": "ann@sender.example", "name": "Ann"},
    "to": ["bob@example.net", {"email": "eve@example.net"}],
    "cc": "Carl <carl@example.net>",
    "subject": "Hello",
    "text": "Hello",
    "attachments": [{"filename": "a.txt", "content": "SGVsbG8="}],
}


def request(**change):
    return EmailRequest.from_dict({**message, **change})


sent = send_email.sync(client=api, body=request(), idempotency_key="first")
again = send_email.sync_detailed(client=api, body=request(), idempotency_key="first")
preview = send_email.sync(client=api, body=request(), dry_run=SendEmailDryRun.TRUE)
old = send.sync_detailed(
    client=api, body=SendRequest(from_="ann@sender.example", to="bob@example.net", subject="Old", text="Old")
)
batch = send_email_batch.sync(client=api, body=[request(), request(subject="Second")])
refused = send_email.sync(client=api, body=request(**{"from": "ann@foreign.example"}))
invalid = send_email.sync(client=api, body=request(subject="a\nb"))
one = get_email.sync(sent.id, client=api)
raw = get_raw_email.sync(sent.id, client=api)
emails = list_emails.sync(client=api, limit=2)
domains = list_domains.sync(client=api)

print(
    json.dumps(
        {
            "id": sent.id,
            "again": again.parsed.id,
            "replayed": again.headers["idempotency-replayed"],
            "preview": preview.text,
            "old": old.status_code,
            "batch": [item.status for item in batch.data],
            "refused": refused.code,
            "invalid": [error.pointer for error in invalid.errors],
            "recipients": [f"{one.type_} {one.email}" for one in one.recipients],
            "raw": b"Subject: Hello" in raw,
            "listed": len(emails.data),
            "domains": [[domain.name, isinstance(domain.records, list)] for domain in domains.data],
        }
    )
)
