/** Makes a FeatureSwitch true: the switch of its App. */

import { switchesOfResource } from '../../../services/subscriptions/catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import type { SwitchFields } from '../../../services/subscriptions/flags/rules/flag-spec.ts'
import { applySwitch, withdrawSwitches } from '../../../services/subscriptions/kubernetes/declare-resources.ts'
import { mirrorSubscriptionState } from '../../../services/subscriptions/kubernetes/mirror-resource-state.ts'
import { FeatureSwitch } from '../../resources/feature-switch.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { appKeyOf, driftOf, withdrawalOf } from './app-ref.ts'

type Spec = FeatureSwitch['spec']
type Status = NonNullable<FeatureSwitch['status']>

/** The reconciler of FeatureSwitches. */
export function featureSwitchReconciler(context: OperatorContext, s: Subscriptions): Reconciler<Spec, Status> {
  return {
    kind: FeatureSwitch,
    ensure: resource => ensure(context, s, resource),
    async remove(resource, retain) {
      const records = await switchesOfResource(s.c, resource.metadata.uid)
      const policy = retain ? 'Retain' : 'Delete'
      await withdrawSwitches(s, managedBy(resource), await withdrawalOf(context, s, resource.metadata, records, policy))
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorSubscriptionState(s, 'FeatureSwitch', uid, Number(id), state),
  }
}

async function ensure(context: OperatorContext, s: Subscriptions, resource: FeatureSwitch): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const app = await appKeyOf(context, s, metadata, spec.appRef.name)
  if ('outcome' in app) return app.outcome
  try {
    const target = { appKey: app.appKey, name: spec.name }
    const { stored, outcome } = await applySwitch(s, managedBy(resource), target, switchFields(spec))
    return {
      aspects: [accepted(`The switch ${spec.name} of ${app.appKey} is as declared.`)],
      message: `The switch ${spec.name} of ${app.appKey} is as declared.`,
      status: { switchId: String(stored._id) },
      events: driftOf(context, resource, outcome, status?.switchId !== undefined),
      recordId: String(stored._id),
    }
  } catch (error) {
    return refusalOf(error)
  }
}

/** The fields as the API takes them. */
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
}: Spec): SwitchFields {
  return {
    description,
    type,
    value,
    title,
    logs,
    enabled: enabled ? '1' : '0',
    client_visible: clientVisible ? '1' : '0',
    rollout: Number(rollout),
    rules: rules.map(({ rollout: share, ...rule }) => ({
      ...rule,
      ...(share === undefined ? {} : { rollout: Number(share) }),
    })),
  }
}
