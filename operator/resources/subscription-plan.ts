/** SubscriptionPlan: a plan of an App. */
import { z } from 'zod'
import {
  amount,
  defineKind,
  FORMER_VERSIONS,
  immutable,
  listOf,
  READY_COLUMNS,
  referenceTo,
  statusFields,
  withRules,
} from './kind.ts'

const spec = withRules(
  z.object({
    appRef: immutable(referenceTo('App'), 'appRef').describe('The App that sells this plan.'),
    name: immutable(z.string().min(1).max(64), 'name').describe('Name of the plan, unique in its app.'),
    description: z
      .string()
      .max(1000)
      .optional()
      .describe('Description shown to people; default is what the plan has, empty for a new one.'),
    price: amount.describe('Price as a decimal string such as "19.90".'),
    originalPrice: amount
      .optional()
      .describe('Price before a discount; default is what the plan has while it has a discount, and else price.'),
    durationDays: z.int().min(0).max(36_500).describe('Days that a purchase lasts; 0 means permanent.'),
    trialDays: z
      .int()
      .min(0)
      .max(365)
      .optional()
      .describe('Days of a free trial; default is what the plan has, 0 for a new one.'),
    graceDays: z
      .int()
      .min(0)
      .max(90)
      .optional()
      .describe('Days that a subscription stays valid after its end; default is what the plan has, 0 for a new one.'),
    autoRenewAllowed: z
      .boolean()
      .optional()
      .describe(
        'Whether subscriptions may be renewed by themselves; default is what the plan has, true for a new one with a duration.',
      ),
    features: listOf(z.string().min(1).max(200), 50)
      .optional()
      .describe('What the plan contains, as shown to people; default is what the plan has, nothing for a new one.'),
    sortOrder: z
      .int()
      .min(0)
      .max(9999)
      .optional()
      .describe('Place in lists, smaller first; default is what the plan has, 0 for a new one.'),
    status: z
      .enum(['Enabled', 'Disabled'])
      .optional()
      .describe(
        'Disabled: not for sale; holders keep and renew it. Default is what the plan has, Enabled for a new one.',
      ),
    deletionPolicy: z
      .enum(['Retain', 'Delete'])
      .default('Retain')
      .describe('Retain: the plan stays and can be edited in the panel. Delete: it goes, unless it has holders.'),
  }),
  {
    rule: '!has(self.originalPrice) || double(self.originalPrice) >= double(self.price)',
    message: 'originalPrice must not be lower than price',
    fieldPath: '.originalPrice',
    reason: 'FieldValueInvalid',
  },
  {
    rule: '!has(self.autoRenewAllowed) || !self.autoRenewAllowed || self.durationDays > 0',
    message: 'a permanent plan (durationDays 0) is never renewed: autoRenewAllowed must not be true',
    fieldPath: '.autoRenewAllowed',
    reason: 'FieldValueInvalid',
  },
)

const status = z.object({
  ...statusFields,
  planId: z.string().max(64).optional().describe('Identifier of the plan in the API.'),
})

/** A plan. */
export const SubscriptionPlan = defineKind({
  kind: 'SubscriptionPlan',
  plural: 'subscriptionplans',
  shortNames: ['splan'],
  formerVersions: FORMER_VERSIONS,
  description: 'A subscription plan of an App: price, duration and features.',
  spec,
  status,
  columns: [
    { name: 'App', type: 'string', jsonPath: '.spec.appRef.name' },
    { name: 'Plan', type: 'string', jsonPath: '.spec.name' },
    { name: 'Price', type: 'string', jsonPath: '.spec.price' },
    { name: 'Days', type: 'integer', jsonPath: '.spec.durationDays' },
    ...READY_COLUMNS,
  ],
})
/** Parsed SubscriptionPlan. */
export type SubscriptionPlan = ReturnType<typeof SubscriptionPlan.parse>
