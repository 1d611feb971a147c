/** ClusterDNSProvider: a DNS account of the platform's administrators that listed namespaces write with. */
import { z } from 'zod'
import { DNS_ACCOUNT_COLUMNS, DNS_ACCOUNT_RULES, dnsAccountFields, dnsAccountStatus } from './dns-account-spec.ts'
import { defineKind, domainName, listOf, mapOfTexts, referenceTo, setOf, withRules } from './kind.ts'

const IDENTITY = 'Only where the setting DNS_WORKLOAD_IDENTITY_NAMESPACES lists the namespace of the operator'

const namespaceName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)

const labelValue = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/)

const expression = withRules(
  z.object({
    key: z.string().min(1).max(317).describe('Key of the label.'),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the label is compared.'),
    values: setOf(labelValue, 64).optional().describe('Values for In and NotIn.'),
  }),
  {
    rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
    message: 'values are needed with In and NotIn, and only then',
    fieldPath: '.values',
    reason: 'FieldValueInvalid',
  },
)

const allowedNamespaces = withRules(
  z.object({
    names: setOf(namespaceName, 1024).optional().describe('Names of namespaces.'),
    selector: z
      .object({
        matchLabels: mapOfTexts(labelValue, 32)
          .optional()
          .describe('Labels that the Namespace has, with these values.'),
        matchExpressions: listOf(expression.describe('A label with an operator and its values.'), 32)
          .optional()
          .describe('Conditions on its labels; all of them hold.'),
      })
      .optional()
      .describe('Namespaces by their labels; `{}` selects all.'),
  }),
  {
    rule: 'has(self.names) || has(self.selector)',
    message: 'allowedNamespaces needs names or a selector',
    reason: 'FieldValueRequired',
  },
)

const secretRef = referenceTo('Secret').extend({
  name: referenceTo('Secret').shape.name.describe('Name of the Secret.'),
  namespace: namespaceName.describe(
    'Namespace of the Secret: that of the operator, or one that the setting CLUSTER_DNS_SECRET_NAMESPACES lists.',
  ),
})

const spec = withRules(
  z.object({
    ...dnsAccountFields(secretRef, IDENTITY),
    allowedNamespaces: allowedNamespaces.describe(
      'Namespaces whose MailDomains may write with this account: those that are named, and those that the selector selects.',
    ),
    allowedDomains: setOf(domainName, 256)
      .min(1)
      .describe('Domains that they may write, each with all names below it. No other name is read or written.'),
    allowedConflictPolicies: setOf(z.enum(['Fail', 'Adopt', 'Overwrite']), 3)
      .min(1)
      .prefault(['Fail'])
      .describe(
        'Values of spec.dns.conflictPolicy that MailDomains may have. With Fail alone, no namespace can replace a record that exists, such as that of another namespace.',
      ),
  }),
  ...DNS_ACCOUNT_RULES,
)

/** A DNS account for listed namespaces and domains. */
export const ClusterDNSProvider = defineKind({
  kind: 'ClusterDNSProvider',
  plural: 'clusterdnsproviders',
  shortNames: ['cdnsp'],
  scope: 'Cluster',
  description:
    'An account at a DNS provider that belongs to the administrators of the cluster. MailDomains of the allowed namespaces write records of the allowed domains with it, and see neither the credentials nor the other zones. Needs an operator that watches all namespaces.',
  spec,
  status: dnsAccountStatus,
  columns: DNS_ACCOUNT_COLUMNS,
})
/** Parsed ClusterDNSProvider. */
export type ClusterDNSProvider = ReturnType<typeof ClusterDNSProvider.parse>
