/** Messages of the conditions of Kubernetes resources. */

export const resources = {
  // Any resource
  'resource.database_unavailable': 'The database does not answer; trying again.',
  'resource.internal_error': 'An internal error occurred; the log of the operator has the details. Trying again.',
  'resource.paused': 'The annotation {annotation} is "paused": nothing is written for {name}.',
  'resource.spec_invalid': 'The spec is not valid: {errors}',
  'resource.refused': '{detail} {errors}',
  'resource.field_error': '{pointer} {reason}',
  'resource.account_withdrawn':
    'Namespace {namespace} may not act for the account {account} any more. {effect} Users who may change the Namespace can list the account in the annotation {annotation}.',
  'resource.account_gone':
    'The account no longer exists. {effect} Users who may change the Namespace can list another account in the annotation {annotation}.',
  'resource.account_not_allowed':
    'Namespace {namespace} may not act for the account {account}. Users who may change the Namespace can list it in the annotation {annotation}.',
  'resource.account_unknown': 'There is no account {account}.',
  'resource.force_delete': 'The annotation postwright.dev/force-delete: "true" deletes it at once.',
  // Secrets
  'resource.secret_foreign':
    'A Secret {name} exists that this resource did not create. Delete it, or choose another name in a new resource.',
  'resource.secret_written': 'The Secret {name} is written.',
  'resource.secret_refused': 'The API server refuses to write the Secret {name}: {reason}',
  // MailDomain
  'resource.domain_duplicate':
    'MailDomain {namespace}/{name} came first and declares {domain} for the same account. Delete one of them.',
  'resource.domain_exists':
    'The account {account} has the domain {domain} already, from the panel or from an earlier resource. To adopt it, set the annotation {adopt}: "true" here and list {account} in {annotation} of the Namespace.',
  'resource.domain_accepted': '{domain} belongs to the account {account}.',
  'resource.domain_ready': '{domain} is verified and may send.',
  'resource.domain_suspended': 'spec.suspended is true.',
  'resource.domain_suspended_by_admin': 'An administrator suspended this domain.',
  'resource.domain_proven': 'Ownership and DKIM records are in public DNS.',
  'resource.domain_verified_by_admin': 'Verified by an administrator.',
  'resource.not_checked': 'Public DNS was not checked yet.',
  'resource.dns_no_answer': 'DNS did not answer.',
  'resource.proof_missing': 'The ownership record or the DKIM record is not in public DNS yet.',
  'resource.dkim_no_key': 'The domain has no active DKIM key.',
  'resource.dkim_rotating': '{selector} signs; {next} takes over when it is in DNS.',
  'resource.dkim_published': '{selector} signs and is in public DNS.',
  'resource.dkim_not_checked': '{name} was not checked yet.',
  // The DNS records of a MailDomain
  'resource.dns_provider_missing': 'There is no DNSProvider {name} in this namespace.',
  'resource.dns_provider_untested': 'DNSProvider {name} was not tested yet.',
  'resource.dns_provider_not_ready': 'DNSProvider {name} is not ready: {reason}',
  'resource.dns_written': 'All records are written.',
  'resource.dns_record': '{name} {type}: {reason}',
  'resource.dns_zone_missing':
    '{reason} Add the zone at the provider, name another DNSProvider, or set spec.dns.managementPolicy to Observe.',
  'resource.dns_conflict': '{records} Resolve the conflict at the DNS provider; it is checked again every 15 minutes.',
  'resource.dns_conflict_acceptable':
    '{records} Resolve the conflict at the DNS provider, or set spec.dns.conflictPolicy to Adopt or Overwrite; it is checked again every 15 minutes.',
  'resource.dns_observed': 'Public DNS has all records.',
  'resource.dns_guidance': 'Add these records at your DNS provider; status.records has their values: {records}.',
  'resource.draining':
    'No new mail is accepted for {domain}. Accepted messages: {count}. They may still be delivered, for at most five minutes. {hint}',
  'resource.draining_unknown':
    'No new mail is accepted for {domain}. Accepted mail may still be delivered, for at most five minutes. {hint}',
  'resource.dns_not_removed': 'The records cannot be removed yet: {reason} Trying for an hour. {hint}',
  // SMTPCredential and APIToken
  'resource.domain_missing': 'There is no MailDomain {name} in this namespace.',
  'resource.domain_not_accepted': 'MailDomain {name} is not accepted: {reason}',
  'resource.domain_not_registered': 'MailDomain {name} is not registered yet.',
  'resource.domain_unusable': 'MailDomain {name} cannot be used until then.',
  'resource.sender_outside_domain': '{address} in {field} is not an address of {domain}.',
  'resource.login_accepted': 'The login {username} sends for {domain}.',
  'resource.login_ready': 'The login {username} is stored in the Secret {name}.',
  'resource.login_disabled': 'The login {username} is disabled.',
  'resource.login_name_kept':
    '{reason} Until then {username} remains a login of that account: for another account create an SMTPCredential with another spec.username.',
  'resource.token_accepted': 'The token sends for {domain}.',
  'resource.token_ready': 'The token is stored in the Secret {name}.',
  'resource.token_revoked': 'The token is revoked.',
  // DNSProvider
  'resource.credentials_secret_missing': 'There is no Secret {name} in this namespace.',
  'resource.credentials_invalid': 'The Secret {name} has errors: {errors}',
  'resource.credentials_no_key': 'there is no key {key}',
  'resource.credentials_wrong_value': 'the value of {key} is not valid ({reason})',
  'resource.dns_account_accepted': 'The account belongs to {account}.',
  'resource.credentials_accepted': 'The provider accepts the credentials. Zones: {count}.',
  'resource.credentials_refused': '{reason} Compare the Secret {name} and this spec with the settings at the provider.',
  'resource.dns_provider_in_use':
    'MailDomains that still use this account: {count} ({names}). Delete them or choose another DNSProvider for them.',
  // App, SubscriptionPlan and FeatureSwitch
  'resource.app_accepted': 'The app {app} is registered.',
  'resource.app_ready': 'The app {app} is registered; its keys are stored in the Secret {name}.',
  'resource.app_missing': 'There is no App {name} in this namespace.',
  'resource.app_not_accepted': 'App {name} is not accepted: {reason}',
  'resource.app_not_registered': 'App {name} is not registered yet.',
  'resource.app_not_listed':
    'Namespace {namespace} may not manage the app {app} any more, which it adopted. Users who may change the Namespace can list {app} in the annotation {annotation}.',
  'resource.app_duplicate': 'App {namespace}/{name} came first and declares {app}. Delete one of them.',
  'resource.app_exists':
    'The app {app} exists already. To adopt it, set the annotation {adopt}: "true" here and list {app} in {annotation} of the Namespace.',
  'resource.app_in_use': '{reason} Set deletionPolicy: Retain to delete this resource and keep the app.',
  'resource.sender_fallback': "{reason} Until then reminders come from the platform's own sender.",
  'resource.sender_domain_unverified':
    '{address} is in no verified domain of an active administrator. Verify its domain in an account with the role admin, or remove mailFrom.',
  'resource.sender_not_allowed':
    'Namespace {namespace} may not act for the administrator who owns the domain of {address}. Users who may change the Namespace can list the account in the annotation {annotation}.',
  'resource.sender_usable': 'Reminders come from {address}.',
  'resource.switch_ready': 'The switch {name} of {app} is as declared.',
  'resource.plan_ready': 'The plan {name} of {app} is as declared.',
} as const
