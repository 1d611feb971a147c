/** The field of kinds whose mail can be limited by its owner. */
import { z } from 'zod'
import { withRules } from './kind.ts'

const recipients = z.int().min(1).max(1_000_000_000).optional()

/** A decimal as a string: floats do not survive all clients of the API server unchanged. */
const perSecond = withRules(
  z
    .string()
    .max(9)
    .regex(/^(0|[1-9]\d{0,5})(\.\d{1,2})?$/),
  {
    rule: 'double(self) >= 0.01 && double(self) <= 100000.0',
    message: 'recipientsPerSecond is between 0.01 and 100000',
    reason: 'FieldValueInvalid',
  },
).optional()

/**
 * Limits of a domain or login; `what` names it. They are atomic, so that server-side apply keeps an empty object: after
 * limits were declared it would be null otherwise.
 */
export function sendingLimitsField(what: string) {
  return withRules(
    z.object({
      recipientsPerSecond: perSecond.describe('Recipients in a second, on average, as in "0.5" or "20".'),
      burst: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe('Recipients that may come at once; default is what a second allows, and at least one.'),
      recipientsPerHour: recipients.describe('Recipients in a clock hour, UTC.'),
      recipientsPerDay: recipients.describe('Recipients in a day from 00:00 UTC.'),
    }),
    {
      rule: '!has(self.burst) || has(self.recipientsPerSecond)',
      message: 'burst needs recipientsPerSecond',
      fieldPath: '.burst',
      reason: 'FieldValueInvalid',
    },
  )
    .meta({ 'x-kubernetes-map-type': 'atomic' })
    .optional()
    .describe(
      `Limits of ${what}, within those of its account; mail above one is refused for now. {} removes them. Without this field ${what} keeps its own.`,
    )
}

/** The declared limits of a resource. */
export type SendingLimits = z.output<ReturnType<typeof sendingLimitsField>>
