"""What the document of the mail API says in words, for Schemathesis: rules between fields and records.

JSON Schema cannot say that a time lies in the future, or that a domain is one's own. Valid requests are corrected here
before they are sent; those that are meant to be invalid stay as they are.
"""

import base64
import itertools
import os
import time

import schemathesis
from formats import DOMAIN, soon, without_proto
from schemathesis import GenerationMode

OTHER_SESSION = os.environ["SCHEMATHESIS_OTHER_SESSION"]
DNS_ACCOUNT = os.environ["SCHEMATHESIS_DNS_ACCOUNT"]
ACCOUNTS = {"cloudflare": DNS_ACCOUNT, "rfc2136": os.environ["SCHEMATHESIS_SPARE_DNS_ACCOUNT"]}
# Records that others depend on, and what is deleted instead.
KEPT = {DNS_ACCOUNT: ACCOUNTS["rfc2136"], os.environ["SCHEMATHESIS_DOMAIN"]: os.environ["SCHEMATHESIS_SPARE_DOMAIN"]}
OWN_ID = os.environ["SCHEMATHESIS_OWN_ID"]
MESSAGE = os.environ["SCHEMATHESIS_MESSAGE"]
# Messages that the operations on one message are tried with, the newest last.
messages = [MESSAGE]
PASSWORD = "correct horse battery"
SENDER = f"Ann <ann@{DOMAIN}>"
# What belongs to the account, or is checked by more than its form.
VALUES = {
    "raw": base64.b64encode(
        f"From: ann@{DOMAIN}\r\nList-Unsubscribe: <https://news.{DOMAIN}/>\r\n"
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHello\r\n".encode()
    ).decode(),
    "domains": [DOMAIN],
    "allowed_senders": [f"@{DOMAIN}"],
    "domain_ids": [os.environ["SCHEMATHESIS_DOMAIN"]],
    "url": "https://hooks.example.com/",
    "private_key": os.environ["SCHEMATHESIS_PRIVATE_KEY"],
    "dns_account_id": DNS_ACCOUNT,
    # No other sender is always among those that are allowed.
    "fallback_sender": None,
}
keys = itertools.count()


def report():
    begin = int(time.time()) // 86_400 * 86_400 - 86_400
    return (
        f"<feedback><report_metadata><org_name>receiver.example</org_name><report_id>{next(keys)}</report_id>"
        f"<date_range><begin>{begin}</begin><end>{begin + 86_399}</end></date_range></report_metadata>"
        f"<policy_published><domain>{DOMAIN}</domain><p>none</p></policy_published></feedback>"
    ).encode()


def correct_message(message):
    message["from"] = SENDER
    if message.pop("template", None):
        # It would have to exist.
        message.setdefault("subject", "Hello")
        message.setdefault("text", "Hello")
    if message.get("track"):
        # The domain does not track, and a message can only ask for less.
        message["track"] = dict.fromkeys(message["track"], False)
    if message.get("stream") == "bulk" and "raw" not in message:
        # The server of the test has no public address of its own.
        message["unsubscribe"] = {"url": "https://news.sender.example/leave"}


def suppress(entry):
    """Not those that messages go to: a message without any other recipient is refused."""
    entry["email"] = entry["email"].split("@")[0] + "@suppressed.example"


def select_mail(body):
    values = {"account": OWN_ID, "domain": DOMAIN, "destination": "receiver.example", "message": MESSAGE}
    body["value"] = values[body["scope"]]


def set_limit(body):
    """Amounts that fit the scope, and none that keeps messages of other operations back."""
    subjects = {"account": "*", "destination": "receiver.example"}
    body["scope"] = body["scope"] if body["scope"] in subjects else "domain"
    body["subject"] = subjects.get(body["scope"], DOMAIN)
    for name in [name for name in body if name.startswith("recipients_per_") or name == "burst"]:
        del body[name]
    body["recipients_per_minute" if body["scope"] == "destination" else "recipients_per_hour"] = 1_000_000


def declare_variables(body):
    """Keys are unique words, defaults have the type of their variable, and values are there for those that are required."""
    for number, variable in enumerate(body.get("variables") or []):
        variable["key"] = f"key_{number}"
        for name in ("default", "required"):
            variable.pop(name, None)
    if body.get("text") is None:
        # Without html as well, a template would have no content.
        body["text"] = "Hello"


def route_mail(body):
    """An address belongs to a redirect, and only to that."""
    body.pop("redirect_to", None)
    if body.get("delivery") == "redirect":
        body["redirect_to"] = "qa@receiver.example"


def make_token(body):
    """A test token sends nothing that could be captured, and what a login sends is not captured."""
    if body.get("mode") == "test" or "smtp:write" in body.get("scopes", []):
        body.pop("capture", None)


CORRECTIONS = {
    "updateDomain": route_mail,
    "createToken": make_token,
    "createSuppression": suppress,
    "changeSuppressions": lambda body: [suppress(entry) for entry in body.get("add", [])],
    "holdMail": select_mail,
    "holdAnyMail": select_mail,
    "actOnQueue": select_mail,
    "actOnAnyQueue": select_mail,
    "createTemplate": declare_variables,
    "changeTemplate": declare_variables,
    "previewTemplateContent": declare_variables,
    "setSendingLimit": set_limit,
    "setUserSendingLimit": set_limit,
}


@schemathesis.hook
def after_call(context, case, response):
    if case.method == "POST" and case.path == "/api/v1/emails" and response.status_code == 202:
        messages.append(response.json()["id"])


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw
    if operation["operationId"] in ("logOut", "changeMyPassword", "endMyOtherSessions") and (case.cookies or {}).get("pw_session"):
        case.cookies["pw_session"] = OTHER_SESSION
    if (case.path_parameters or {}).get("id") == OWN_ID:
        # Suspended, or with another password, the tester would be nobody.
        case.path_parameters["id"] = os.environ["SCHEMATHESIS_OTHER_ID"]
    if case.method == "DELETE" and (case.path_parameters or {}).get("id") in KEPT:
        case.path_parameters["id"] = KEPT[case.path_parameters["id"]]
    if operation["operationId"] == "importSuppressions":
        # A table; for the schema any text is right.
        case.body = f"email\nimported-{next(keys)}@suppressed.example\n"
    if operation["operationId"] == "listInboxMessages" and str((case.query or {}).get("wait")).isdigit():
        # Nothing arrives.
        case.query["wait"] = 0
    if len(str((case.query or {}).get("after") or "")) > 2_048:
        # Encoded, it would exceed what HTTP servers accept as headers, and Node responds with an empty 431.
        case.query["after"] = "a" * 2_049
    if case.meta is None or case.meta.generation.mode == GenerationMode.NEGATIVE:
        return
    if case.path.startswith("/api/v1/emails/{id}") and next(keys) % 2:
        case.path_parameters["id"] = messages[-1]
    if (case.query or {}).get("after") is not None:
        # A cursor belongs to one order, and those that are made here to the default one.
        for name in ("sort", "order"):
            case.query.pop(name, None)
        if operation["operationId"] == "listEmails":
            # Ids of messages only; the pattern of the others, which pack values, would not be met by generated ones.
            case.query["after"] = MESSAGE
    if operation["operationId"] in ("countQueue", "countAnyQueue"):
        select_mail(case.query)
    if (case.headers or {}).get("Idempotency-Key"):
        case.headers["Idempotency-Key"] = f"key-{next(keys)}"
    if operation["operationId"] == "addDomainReport":
        # For the schema any octets are right, for any domain.
        case.path_parameters["id"] = os.environ["SCHEMATHESIS_DOMAIN"]
        case.body = report()
        return
    body = without_proto(case.body)
    for message in body if isinstance(body, list) else [body]:
        if isinstance(message, dict) and "from" in message:
            correct_message(message)
    if isinstance(body, dict):
        if body.get("provider") == "rfc2136":
            # No one asks for names outside.
            body["credentials"]["server"] = "127.0.0.1:1"
        if body.get("provider") == "webhook":
            body["credentials"]["url"] = "https://127.0.0.1:1"
        if body.get("provider") == "google":
            body["credentials"]["service_account_key"] = os.environ["SCHEMATHESIS_SERVICE_ACCOUNT_KEY"]
        if case.method == "PUT" and "provider" in body:
            # The provider of an account stays the same.
            case.path_parameters["id"] = ACCOUNTS.get(body["provider"], "dns_nobody")
        for name in ("expires_at", "scheduled_at", "until"):
            if isinstance(body.get(name), str):
                body[name] = soon(60 + next(keys))
        if operation["operationId"] == "logIn":
            body.update(username=os.environ["SCHEMATHESIS_USERNAME"], password=PASSWORD)
        if operation["operationId"] in ("changeMyPassword", "changeMyEmail", "startMySecondFactor", "startMyPasskey"):
            body["current_password"] = PASSWORD
        if operation["operationId"] in CORRECTIONS:
            CORRECTIONS[operation["operationId"]](body)
        if body.get("domains"):
            # A token for certain domains only sends.
            body.pop("scopes", None)
        for name, value in VALUES.items():
            if name in body and body[name] not in (None, []):
                body[name] = value
