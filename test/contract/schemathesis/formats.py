"""Values of the formats that the documents name, for Schemathesis."""

import base64
import datetime
import json

import schemathesis
from hypothesis import strategies as st

DOMAIN = "sender.example"
label = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
hostnames = st.one_of(
    st.builds("{}.example".format, label),
    st.builds("{}.{}.co.uk".format, label, label),
    st.builds("{}.例え.jp".format, label),
)
emails = st.one_of(
    st.builds("{}@{}".format, label, st.just(DOMAIN)),
    st.builds("{}+{}@{}".format, label, label, hostnames),
    st.builds("用户@{}".format, hostnames),
)
mailboxes = st.one_of(
    emails, st.builds("Ann {} <{}>".format, label, emails), st.builds('"{}, Ann" <{}>'.format, label, emails)
)


def soon(minutes: int) -> str:
    zone = datetime.timezone(datetime.timedelta(hours=minutes % 24 - 11))
    return (datetime.datetime.now(zone) + datetime.timedelta(minutes=minutes)).isoformat()


def lately(days: int) -> str:
    return (datetime.date.today() - datetime.timedelta(days=days)).isoformat()


def cursor(at: int, number: int) -> str:
    return base64.urlsafe_b64encode(f"{at}.{number}".encode()).decode().rstrip("=")


texts = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=20)
FORMATS = {
    "mailbox": mailboxes,
    "idn-email": emails,
    "email": st.builds("{}@{}".format, label, st.just(DOMAIN)),
    "allowed-sender": st.one_of(emails, st.just(f"@{DOMAIN}")),
    "hostname": st.builds("{}.example".format, label),
    "idn-hostname": hostnames,
    "ip-network": st.sampled_from(["192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "2001:db8::1"]),
    "time-zone": st.sampled_from(["UTC", "Asia/Shanghai", "America/Argentina/Buenos_Aires"]),
    "spf-mechanism": st.one_of(st.builds("include:{}.example".format, label), st.just("ip6:2001:db8::/32")),
    "date-time": st.builds(soon, st.integers(min_value=5, max_value=29 * 24 * 60)),
    "date": st.builds(lately, st.integers(min_value=0, max_value=60)),
    "cursor": st.builds(cursor, st.integers(0, 2_000_000_000_000), st.integers(0, 10**6)),
    "plan-features": st.lists(texts, max_size=3).map(lambda names: json.dumps({"features": names})),
}
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


@schemathesis.hook
def before_load_schema(context, schema):
    """Without examples: test/system sends each with the records that it names, and values made here are more various."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            contents = operation.get("requestBody", {}).get("content", {})
            for part in [*operation.get("parameters", []), *contents.values()]:
                part.pop("example", None)


def without_proto(value):
    """Without the key that the services refuse wherever it stands, because it would poison objects in JavaScript."""
    if isinstance(value, dict):
        value.pop("__proto__", None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        without_proto(inner)
    return value
