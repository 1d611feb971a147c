/** Ways in besides the password: a login provider, and passkeys. */
export const waysIn = {
  'detail.password_login_off': 'This installation has turned the login with a password off.',
  'detail.oidc_off': 'This installation has no login provider.',
  'detail.oidc_denied': 'The login at the provider was canceled or denied.',
  'detail.oidc_error': 'The login provider answered with the error {error}.',
  'detail.oidc_invalid': 'The answer of the login provider is not valid; begin again.',
  'detail.oidc_no_email': 'The login provider sent no email address; an administrator has to configure it to send one.',
  'detail.oidc_unverified': 'The login provider has not verified {email}, so that it leads to no account here.',
  'detail.oidc_no_account':
    'There is no account for {email}. Log in another way and confirm this address in the settings, or ask an administrator for an invitation.',
  'detail.oidc_ambiguous': 'Several accounts have the address {email}; log in with a password instead.',
  'detail.oidc_linked': 'The account with the address {email} belongs to another person of the login provider.',
  'detail.passkeys_off': 'Passkeys need a host name; APP_BASE_URL has an IP address.',
  'detail.passkey_most': 'An account can have {count} passkeys at most.',
  'detail.passkey_known': 'This passkey is registered already.',
  'detail.no_passkey': 'There is no such passkey.',
  'detail.passkey_unknown': 'This passkey belongs to no account here; it may have been removed.',
  'detail.passkey_invalid': 'The answer of the passkey is not valid; begin again.',
} as const
