/** SubscriptionPlan: a plan of an App. */
import { z } from 'zod'
import { amount, defineKind, immutable, listOf, READY_COLUMNS, referenceTo, statusFields, withRules } from './kind.ts'

const spec = withRules(
  z.object({
    appRef: immutable(referenceTo('App'), 'appRef').describe('The App that sells this plan.'),
    name: immutable(z.string().min(1).max(64), 'name').describe('Name of the plan, unique in its app.'),
    description: z.string().max(1000).default('').describe('Description shown to people.'),
    price: amount.describe('Price as a decimal string such as "19.90".'),
    originalPrice: amount.optional().describe('Price before a discount; default is price.'),
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
    features: listOf(z.string().min(1).max(200), 50)
      .prefault([])
      .describe('What the plan contains, as shown to people.'),
    sortOrder: z.int().min(0).max(9999).default(0).describe('Place in lists, smaller first.'),
    status: z
      .enum(['Enabled', 'Disabled'])
      .default('Enabled')
      .describe('Disabled: not for sale; holders keep and renew it.'),
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
)

const status = z.object({
  ...statusFields,
  planId: z.string().max(64).optional().describe('Identifier of the plan in the API.'),
})

/** A plan. */
export const SubscriptionPlan = defineKind({
  kind: 'SubscriptionPlan',
  plural: 'subscriptionplans',
  shortName: 'splan',
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
