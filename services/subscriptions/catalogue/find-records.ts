/** Finds apps, plans and feature flags for callers outside of this subject. */
import { listManagedBy } from '../../platform/managed/managed-records.ts'
import type { Subscriptions } from '../context.ts'
import type { AppDoc, PlanDoc, SwitchDoc } from '../store/models.ts'
import { findApp } from './store/apps.ts'

export type { AppDoc }

/** The live app with this key. */
export function findAppByKey({ collections }: Subscriptions, appKey: string): Promise<AppDoc | undefined> {
  return findApp(collections, appKey)
}

/** The plans that the resource with this uid manages, oldest first. */
export function listPlansOfResource({ collections }: Subscriptions, uid: string): Promise<PlanDoc[]> {
  return listManagedBy(collections.plans, uid)
}

/** The feature flags that the resource with this uid manages, oldest first. */
export function listSwitchesOfResource({ collections }: Subscriptions, uid: string): Promise<SwitchDoc[]> {
  return listManagedBy(collections.switches, uid)
}
