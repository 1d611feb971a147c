"""What the document of the Subscription Administration API says in words, for Schemathesis: rules between fields and records.

JSON Schema cannot say that an app or a record exists, or that a value fits a type that another field names. Valid parts of
requests are corrected here before they are sent; those that are meant to be invalid stay as they are.
"""

import itertools
import json
import os

import formats
import schemathesis
from schemathesis.core.parameters import ParameterLocation

PUBLIC_KEY = os.environ["SCHEMATHESIS_PUBLIC_KEY"]
PASSWORD = "correct horse battery"
# Sessions of others, for what ends one's session.
ENDED = json.loads(os.environ["SCHEMATHESIS_ENDED"])
# Ids by kind. Those of "changed" and "deleted" become unfit for the rest.
RECORDS = json.loads(os.environ["SCHEMATHESIS_RECORDS"])
FIRST = RECORDS["first"]
VALUES = {"boolean": "1", "number": "2.5", "string": "text", "json": "{}", "changelog": '{"title":"","logs":[]}'}
IDENTITIES = ("openid", "unionid", "huawei_openid", "huawei_unionid")
TARGET = "https://hooks.example.com/"
# Which records an operation has where its method does not say it.
RECORDS_OF = {
    "refundSubscription": "refunded",
    "cancelSubscription": "deleted",
    # Their app must be there.
    "revokeAppCredential": "first",
    "deleteWebhook": "first",
}
# Fields whose values may be used once.
UNIQUE = {
    "createSwitch": "name",
    "createPlan": "name",
    "createApp": "app_name",
    "grantSubscription": "client_ref",
    "subscribe": "payment_id",
    "renewSubscription": "payment_id",
}
KINDS = {
    "admin": "admin",
    "app_manage": "app",
    "subscription": "subscription",
    "subscription_plan": "plan",
    "user": "user",
}


keys = itertools.count()


def is_valid(case, location):
    return case.meta is not None and not case.meta.is_negative_at(location)


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw["operationId"]
    if operation in ENDED and (case.headers or {}).get("token"):
        case.headers["token"] = ENDED[operation]
    if is_valid(case, ParameterLocation.PATH):
        name_records(case)
    if is_valid(case, ParameterLocation.QUERY):
        correct_query(operation, case.query)
    elif (case.query or {}).get("app_key") and parameter_at_fault(case) != "app_key":
        case.query["app_key"] = "demo"
    if is_valid(case, ParameterLocation.HEADER) and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"key-{next(keys)}"
    if operation == "importSubscriptions":
        # A table; for the schema any text is right.
        case.body = one_row()
    elif is_valid(case, ParameterLocation.BODY):
        body = formats.without_proto(case.body)
        if isinstance(body, dict):
            correct_body(operation, body)


def parameter_at_fault(case):
    return getattr(case.meta.phase.data, "parameter", None)


def name_records(case):
    operation = case.operation.definition.raw["operationId"]
    records = RECORDS[RECORDS_OF.get(operation, {"DELETE": "deleted", "PUT": "changed"}.get(case.method, "first"))]
    parts = case.operation.path.removeprefix("/server").split("/")
    for name in case.path_parameters or {}:
        kind = KINDS.get(parts[1]) if name == "id" else name
        if kind in records:
            case.path_parameters[name] = records[kind]
    if operation == "deleteWebhook":
        # The other one has deliveries, which more operations read.
        case.path_parameters["webhook"] = records["spare_webhook"]


def correct_query(operation, query):
    if query is None:
        return
    if "app_key" in query:
        query["app_key"] = "demo"
    if "page" in query and query["page"]:
        # The deepest record that can be skipped to is the 100,000th.
        query["page"] = min(int(query["page"]), 5)
    if operation == "getEntitlement" and not any(query.get(name) for name in ("user_id", *IDENTITIES)):
        query["user_id"] = FIRST["user"]
    if query.get("start_date") and query.get("end_date"):
        query["end_date"] = query["start_date"]
    if "name" in query:
        query["name"] = (RECORDS["deleted"] if operation == "deleteSwitch" else FIRST)["switch"]


def correct_body(operation, body):
    # Grants may last for ever, and then no payment follows.
    records = RECORDS["deleted"] if operation == "grantSubscription" else FIRST
    for name, kind in {"plan_id": "plan", "user_id": "user"}.items():
        if name in body:
            body[name] = records[kind]
    for name in ("amount", "price", "original_price"):
        if isinstance(body.get(name), float):
            body[name] = round(body[name], 2)
    if "original_price" in body:
        body["price"] = body["original_price"]
    if operation in UNIQUE and UNIQUE[operation] in body:
        body[UNIQUE[operation]] = f"one-{next(keys)}"
    # The current one is not known here; a wrong one is refused with 409.
    body.pop("version", None)
    if operation in CORRECTIONS:
        CORRECTIONS[operation](body)


def log_in(body):
    body.update(username="admin-1", password=PASSWORD)


def change_password(body):
    body["current"] = PASSWORD


def one_row():
    return f"user_id,plan_id,days,client_ref\n{FIRST['user']},{FIRST['plan']},30,import-{next(keys)}\n"


def fit_switch(body):
    """Values fit the type, and versions of release notes are unique."""
    parts = [body, *body.get("rules", []), *body.get("schedules", [])]
    for part in parts:
        if isinstance(part.get("rollout"), float):
            part["rollout"] = round(part["rollout"], 3)
    for number, log in enumerate(body.get("logs", [])):
        log["version"] = f"1.{number}"
    if not body.keys() & {"type", "value", "rules", "schedules"}:
        return
    value = VALUES[body.setdefault("type", "string")]
    for part in parts:
        if "value" in part or part is body:
            part["value"] = value
    # Those that are stored may have another type.
    body.setdefault("rules", [])
    body.setdefault("schedules", [])


def evaluate(body):
    if "name" in body:
        body["name"] = FIRST["switch"]
    definition = body.get("definition")
    if isinstance(definition, dict):
        # The stored switch with this name may have another type.
        definition.pop("name", None)
        body.pop("name", None)
        fit_switch(definition)


def restore(body):
    body.update(name=FIRST["switch"], revision=1)


def set_channel(body):
    body.update(app_id="app", seller_id="seller", alipay_public_key=PUBLIC_KEY)


CORRECTIONS = {
    "logIn": log_in,
    "changePassword": change_password,
    "createSwitch": fit_switch,
    "updateSwitch": fit_switch,
    "evaluateSwitches": evaluate,
    "restoreSwitch": restore,
    "setPaymentChannel": set_channel,
    "actOnSubscription": lambda body: body.pop("amount", None),
    "actOnSubscriptions": lambda body: body.update(ids=[RECORDS["deleted"]["subscription"]]),
    "subscribe": lambda body: body.pop("amount", None),
    "renewSubscription": lambda body: (body.pop("amount", None), body.update(payment_method="alipay")),
    "refundSubscription": lambda body: body.pop("amount", None),
    "restorePlan": lambda body: body.update(revision=1),
    "createWebhook": lambda body: body.update(url=TARGET),
    "updateWebhook": lambda body: body.update(url=TARGET),
    "updateApp": lambda body: body.update(mail_from=""),
}
