"""Uses the client that was generated from the document of the Subscription Administration API; prints what it got.

Arguments: address, user name, password.
"""

import io
import json
import sys

from client import AuthenticatedClient, Client
from client.api.apps import create_app
from client.api.ofrep import evaluate_flag, evaluate_flags
from client.api.plans import create_plan, list_plans
from client.api.server import upsert_user
from client.api.session import log_in
from client.api.subscriptions import grant_subscription, import_subscriptions, list_subscriptions
from client.api.switches import create_switch
from client.api.users import export_users
from client.models import (
    CreateAppBody,
    CreatePlanBody,
    CreateSwitchBody,
    EvaluationRequest,
    GrantSubscriptionBody,
    LogInBody,
    UpsertUserBody,
)
from client.models.list_subscriptions_status import ListSubscriptionsStatus
from client.types import File

base_url, username, password = sys.argv[1:4]


def client_of(token, header, prefix=""):
    return AuthenticatedClient(base_url=base_url, token=token, auth_header_name=header, prefix=prefix)


session = log_in.sync(client=Client(base_url=base_url), body=LogInBody(username=username, password=password)).data
api = client_of(session.token, "token")
app = create_app.sync(client=api, body=CreateAppBody(app_name="Made by a client", app_key="made")).data
key = client_of(app.publishable_key, "X-API-Key")
here = {"client": api, "app_key": "made"}

plan = create_plan.sync(
    **here,
    prefer="return=representation",
    idempotency_key="plan",
    body=CreatePlanBody(
        name="Monthly", price="19.90", duration=30, features='{"features":["sync"]}', sort_order="1"
    ),
).data
server = client_of(app.app_secret, "Authorization", "Bearer")
user = upsert_user.sync(client=server, body=UpsertUserBody(openid="o1", nickname="Ann")).data
granted = grant_subscription.sync(
    **here, body=GrantSubscriptionBody(user_id=user.id, plan_id=plan.id, days=7)
).data
rows = f"user_id,plan_id,days,client_ref\n{user.id},{plan.id},3,first\n"
imported = import_subscriptions.sync(**here, body=File(payload=io.BytesIO(rows.encode()))).data
listed = list_subscriptions.sync(**here, page_size=10, status=ListSubscriptionsStatus.VALUE_1).data
users = export_users.sync(**here)
create_switch.sync(
    **here, body=CreateSwitchBody.from_dict({"name": "on", "type": "boolean", "value": "1", "client_visible": "1"})
)
flags = evaluate_flags.sync(client=key, body=EvaluationRequest.from_dict({"context": {"targetingKey": "u1"}}))
flag = evaluate_flag.sync("missing", client=key, body=EvaluationRequest())
refused = list_plans.sync(client=api, app_key="unknown", lang="en")

print(
    json.dumps(
        {
            "admin": session.admin.role,
            "plan": plan.price,
            "granted": granted.status,
            "imported": imported.imported,
            "listed": [one.plan_name for one in listed.subscriptions],
            "exported": b"Ann" in users,
            "flags": [[one.key, one.variant, one.value] for one in flags.flags],
            "flag": flag.error_code,
            "refused": [refused.code, refused.message],
        }
    )
)
