/** Collections used by the Kubernetes resources of the subscription module. */
import { subscriptionCollections } from './store/collections.ts'

/** Names of the collections whose records resources declare. */
export const declaredSubscriptionRecords: readonly string[] = ['sub_apps', 'sub_plans', 'sub_switches', 'sub_webhooks']

/** All collections that the use cases of declared resources read or write: their indexes must exist. */
export const declaredSubscriptionCollections = subscriptionCollections
