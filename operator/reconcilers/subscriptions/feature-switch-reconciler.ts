/** Reconciles FeatureSwitches: the feature flag of their App. */

import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { listSwitchesOfResource } from '../../../services/subscriptions/catalogue/find-records.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import type { SwitchFields } from '../../../services/subscriptions/flags/rules/flag-spec.ts'
import { declareSwitch, withdrawSwitches } from '../../../services/subscriptions/kubernetes/declare-switch.ts'
import { mirrorSubscriptionState } from '../../../services/subscriptions/kubernetes/managed-records.ts'
import { FeatureSwitch } from '../../resources/feature-switch.ts'
import { driftOf } from '../shared/drift.ts'
import { wantsToAdopt } from '../shared/namespace-owners.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { appKeyOf, withdrawalOf } from './app-ref.ts'

type Spec = FeatureSwitch['spec']
type Status = NonNullable<FeatureSwitch['status']>

/** The reconciler of FeatureSwitches. */
export function featureSwitchReconciler(
  context: OperatorContext,
  subscriptions: Subscriptions,
): Reconciler<Spec, Status> {
  return {
    kind: FeatureSwitch,
    ensure: resource => ensure(context, subscriptions, resource),
    async remove(resource, retain) {
      const records = await listSwitchesOfResource(subscriptions, resource.metadata.uid)
      const policy = retain ? 'Retain' : resource.spec.deletionPolicy
      await withdrawSwitches(
        subscriptions,
        managedBy(resource),
        await withdrawalOf(context, subscriptions, resource.metadata, records, policy),
      )
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorSubscriptionState(subscriptions, 'FeatureSwitch', uid, Number(id), state),
  }
}

async function ensure(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: FeatureSwitch,
): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const app = await appKeyOf(context, subscriptions, metadata, spec.appRef.name)
  if ('outcome' in app) return app.outcome
  try {
    const target = { appKey: app.appKey, name: spec.name }
    const { stored, outcome } = await declareSwitch(subscriptions, managedBy(resource), target, switchFields(spec), {
      adopt: wantsToAdopt(metadata),
    })
    const message = sentence('resource.switch_ready', { name: spec.name, app: app.appKey })
    return {
      conditions: [accepted(message)],
      message,
      status: { switchId: String(stored._id), enabled: stored.enabled === '1' },
      events: driftOf(context, resource, outcome, status?.switchId !== undefined),
      recordId: String(stored._id),
    }
  } catch (error) {
    return refusalOf(error)
  }
}

/** The fields in the form of the API; those that the resource leaves out are undefined. */
export function switchFields({
  description,
  type,
  value,
  title,
  logs,
  enabled,
  clientVisible,
  rollout,
  rules,
  schedules,
}: Spec): SwitchFields {
  return {
    ...{ description, type, value, title, logs },
    enabled: flagOf(enabled),
    client_visible: flagOf(clientVisible),
    rollout: rollout === undefined ? undefined : Number(rollout),
    rules: rules?.map(({ rollout: share, ...rule }) => ({
      ...rule,
      ...(share === undefined ? {} : { rollout: Number(share) }),
    })),
    schedules: schedules?.map(entry => ({
      at: Math.floor(Date.parse(entry.at) / 1000),
      ...(entry.value === undefined ? {} : { value: entry.value }),
      ...(entry.enabled === undefined ? {} : { enabled: flagOf(entry.enabled) }),
      ...(entry.rollout === undefined ? {} : { rollout: Number(entry.rollout) }),
    })),
  }
}

function flagOf(value: boolean | undefined): '0' | '1' | undefined {
  if (value === undefined) return undefined
  return value ? '1' : '0'
}
