/** Finds apps, plans and feature flags for callers outside of this subject. */
import type { Subscriptions } from '../context.ts'
import type { AppDoc, PlanDoc, SwitchDoc } from '../store/documents.ts'
import { findApp } from './store/apps.ts'
import { plansOfResource, switchesOfResource } from './store/plans-and-flags.ts'

export type { AppDoc }

/** The live app with this key. */
export function findAppByKey({ c }: Subscriptions, appKey: string): Promise<AppDoc | undefined> {
  return findApp(c, appKey)
}

/** The plans that the resource with this uid manages, oldest first. */
export function listPlansOfResource({ c }: Subscriptions, uid: string): Promise<PlanDoc[]> {
  return plansOfResource(c, uid)
}

/** The feature flags that the resource with this uid manages, oldest first. */
export function listSwitchesOfResource({ c }: Subscriptions, uid: string): Promise<SwitchDoc[]> {
  return switchesOfResource(c, uid)
}
