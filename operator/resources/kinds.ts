/** All kinds, in the order in which one depends on the other. */
import { APIToken } from './api-token.ts'
import { App } from './app.ts'
import { DNSProvider } from './dns-provider.ts'
import { FeatureSwitch } from './feature-switch.ts'
import type { Kind } from './kind.ts'
import { MailDomain } from './mail-domain.ts'
import { SMTPCredential } from './smtp-credential.ts'
import { SubscriptionPlan } from './subscription-plan.ts'

/** Every kind of the group. */
export const kinds: readonly Kind[] = [
  DNSProvider,
  MailDomain,
  SMTPCredential,
  APIToken,
  App,
  SubscriptionPlan,
  FeatureSwitch,
]
