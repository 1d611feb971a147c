/** Whether a request comes from a program that opens mail or follows links by itself. */

/**
 * Proxies that fetch images of mail (Google, Yahoo, and Apple, which names itself `Mozilla/5.0` and nothing more), and
 * scanners and previews of links.
 */
const PROGRAMS =
  /^Mozilla\/5\.0$|GoogleImageProxy|ggpht\.com|YahooMailProxy|bot\b|crawler|spider|scan(?:ner)?\b|preview|prefetch|proofpoint|barracuda|mimecast|safelinks|facebookexternalhit|^(?:curl|wget|python|go-http-client|java|okhttp|libwww|node|axios)\b/i

/** What a request says of who makes it. */
export interface Caller {
  userAgent: string
  /** Purpose or Sec-Purpose. */
  purpose: string
}

/** True for a program, as far as the request shows it. */
export function isMachine({ userAgent, purpose }: Caller): boolean {
  return userAgent === '' || PROGRAMS.test(userAgent) || /prefetch|preview|prerender/i.test(purpose)
}
