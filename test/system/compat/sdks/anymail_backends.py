"""Django mail over anymail's backends for Resend and Postal. Arguments: address, token, and a webhook request as JSON."""
import json
import sys

import django
from django.conf import settings

url, token, hook = sys.argv[1:4]
settings.configure(
    SECRET_KEY="test",
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["anymail"],
    ANYMAIL={
        "RESEND_API_KEY": token,
        "RESEND_API_URL": url,
        "POSTAL_API_KEY": token,
        "POSTAL_API_URL": url,
        "WEBHOOK_SECRET": "user:password",
    },
)
django.setup()

from anymail.exceptions import AnymailAPIError  # noqa: E402
from anymail.signals import tracking  # noqa: E402
from anymail.webhooks.resend import ResendTrackingWebhookView  # noqa: E402
from django.core.mail import EmailMultiAlternatives, get_connection  # noqa: E402
from django.test import RequestFactory  # noqa: E402

found = {}


def send(backend, change=None, **options):
    connection = get_connection(f"anymail.backends.{backend}.EmailBackend")
    sender = options.pop("sender", "Änne <ann@sender.example>")
    to = options.pop("to", ["bob@example.net"])
    mail = EmailMultiAlternatives("Hello", "Hello Bob", sender, to, connection=connection, **options)
    mail.attach_alternative("<p>Hello Bob</p>", "text/html")
    if change:
        change(mail)
    mail.send()
    return {address: [status.status, status.message_id] for address, status in mail.anymail_status.recipients.items()}


def with_extras(mail):
    mail.attach("a.txt", "text of a", "text/plain")
    mail.tags = ["order"]


def with_metadata(mail):
    with_extras(mail)
    mail.metadata = {"order": 7}


def to_each(mail):
    mail.merge_data = {}
    mail.merge_metadata = {"bob@example.net": {"n": 1}, "eve@example.net": {"n": 2}}


more = {"cc": ["carl@example.net"], "reply_to": ["help@sender.example"], "headers": {"X-Order": "7"}}
found["resend"] = send("resend", with_metadata, **more)
found["batch"] = send("resend", to_each, to=["bob@example.net", "eve@example.net"])
found["postal"] = send("postal", with_extras, **more)
for backend in ["resend", "postal"]:
    try:
        send(backend, sender="eve@other.example")
    except AnymailAPIError as error:
        found[f"{backend} refused"] = str(error)

events = []


def note(sender, event, esp_name, **kwargs):
    events.append([esp_name, event.event_type, event.message_id, event.recipient, event.event_id])


tracking.connect(note)
request = json.loads(hook)
headers = {name: value for name, value in request["headers"].items() if name.startswith("svix-")}
call = RequestFactory().post("/", request["body"], content_type="application/json", headers={
    **headers, "Authorization": "Basic dXNlcjpwYXNzd29yZA=="})
found["webhook"] = [ResendTrackingWebhookView.as_view()(call).status_code, events]

import resend  # noqa: E402

checked = resend.Webhooks.verify({
    "payload": request["body"],
    "headers": {name: request["headers"][f"svix-{name}"] for name in ["id", "timestamp", "signature"]},
    "webhook_secret": request["secret"],
})
found["verified"] = checked["type"]
print(json.dumps(found))
