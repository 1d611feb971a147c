/**
 * Addresses of tracked links and images. An address says everything itself: the delivery and the target are encrypted and
 * authenticated, so that only we can make a redirect, and a link works as long as the mail is kept. A link works
 * at its own host only: an account can make links to any target, but no redirect at the host of another account.
 */
import { SecretError, type Secrets } from '../../platform/security/secrets.ts'
import { TRACKING_PATH } from '../message/tracking-host.ts'
import { MAX_TARGET } from './rewriting/link-target.ts'

/** A link, with a token after it. */
export const CLICK_PATH = `${TRACKING_PATH}/c`
/** An image, with a token and `.gif` after it. */
export const OPEN_PATH = `${TRACKING_PATH}/o`

/** Longer tokens were not made here: target and delivery in base64 with the frame of a sealed value. */
const MAX_TOKEN = Math.ceil(((MAX_TARGET + 200) * 4) / 3)
const CLICK = 'click'
const OPEN = 'open'

/** A link below `base`, which has no slash at its end. */
export function clickUrl(secrets: Pick<Secrets, 'seal'>, base: string, deliveryId: string, target: string): string {
  return `${base}${CLICK_PATH}/${secrets.seal('tracking', placeOf(new URL(base).hostname), `${deliveryId} ${target}`)}`
}

/** An image below `base`. */
export function openUrl(secrets: Pick<Secrets, 'seal'>, base: string, deliveryId: string): string {
  return `${base}${OPEN_PATH}/${secrets.seal('tracking', OPEN, deliveryId)}.gif`
}

/** What a link says; undefined for one that this installation did not make, or made for another host than `host`. */
export function readClickToken(
  secrets: Pick<Secrets, 'open'>,
  token: string,
  host: string,
): { deliveryId: string; target: string } | undefined {
  const plain = openToken(secrets, placeOf(host), token)
  const space = plain?.indexOf(' ') ?? -1
  return plain === undefined || space < 0
    ? undefined
    : { deliveryId: plain.slice(0, space), target: plain.slice(space + 1) }
}

/** The delivery that an image was put into; undefined for an image that this installation did not make. */
export function readOpenToken(secrets: Pick<Secrets, 'open'>, token: string): string | undefined {
  return openToken(secrets, OPEN, token)
}

function placeOf(host: string): string {
  return `${CLICK} ${host.toLowerCase()}`
}

function openToken(secrets: Pick<Secrets, 'open'>, place: string, token: string): string | undefined {
  if (token.length > MAX_TOKEN) return undefined
  try {
    return secrets.open('tracking', place, token)
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}
