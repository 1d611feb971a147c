/** Conversion between a plan of the API and the fields of its form. */
import type { SubOutput } from '../shared/subscriptions-api.ts'
import { featuresOf, featuresText } from './plan-features.ts'

export type Plan = SubOutput<'listPlansOperation'>['plans'][number]

/** An empty price means free; features are one on each line. */
export interface PlanFields {
  name: string
  description: string
  price: string | number
  original_price: string | number
  duration: number
  sort_order: number
  features: string
  status: boolean
  trial_days: number
  grace_days: number
  auto_renew_allowed: boolean
}

export function fieldsOf(plan: Plan | undefined): PlanFields {
  return {
    name: plan?.name ?? '',
    description: plan?.description ?? '',
    price: plan?.price ?? '',
    original_price: plan?.original_price ?? '',
    duration: Number(plan?.duration ?? 30),
    sort_order: Number(plan?.sort_order ?? 0),
    features: featuresOf(plan?.features).join('\n'),
    status: plan?.status !== '0',
    trial_days: Number(plan?.trial_days ?? 0),
    grace_days: Number(plan?.grace_days ?? 0),
    auto_renew_allowed: plan?.auto_renew_allowed !== '0',
  }
}

/** An empty original price is omitted; the service then uses the price. */
export function bodyOf({ original_price, ...fields }: PlanFields) {
  return {
    name: fields.name.trim(),
    description: fields.description,
    price: fields.price === '' ? 0 : fields.price,
    ...(original_price === '' ? {} : { original_price }),
    duration: fields.duration,
    sort_order: String(fields.sort_order),
    features: featuresText(fields.features),
    status: fields.status ? '1' : '0',
    trial_days: String(fields.trial_days),
    grace_days: String(fields.grace_days),
    auto_renew_allowed: fields.auto_renew_allowed ? '1' : '0',
  }
}
