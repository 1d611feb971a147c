/** The collections that Kubernetes resources of the subscription half work on. */
import { subscriptionCollections } from './store/collections.ts'

/** Names of the collections whose records resources declare. */
export const declaredSubscriptionRecords: readonly string[] = ['sub_apps', 'sub_plans', 'sub_switches']

/** All collections that the declaring use cases read or write: their indexes must exist. */
export const declaredSubscriptionCollections = subscriptionCollections
