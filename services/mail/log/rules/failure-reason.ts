/** Why a recipient of a message waits or failed. */
import { FAILURE_KINDS, type FailureKind } from '../../delivery/rules/failure-kinds.ts'
import type { RecipientStatus } from '../../store/rules/email-status.ts'

/** Statuses that a class of failures says something about. */
export const FAILED_STATUSES = ['deferred', 'bounced', 'failed'] as const satisfies readonly RecipientStatus[]

/** The class of the failure; undefined while there is none, and in messages of earlier releases. */
export function reasonOf({ status, kind }: { status: RecipientStatus; kind?: string }): FailureKind | undefined {
  if (!FAILED_STATUSES.some(failed => failed === status)) return undefined
  return FAILURE_KINDS.find(known => known === kind)
}
