/** The program behind a User-Agent header, short enough for a list of sessions. */

/** Longest name that is stored. */
const MAX_CHARS = 64

/** Browsers by their token, the more specific first: Edge and Opera also claim to be Chrome, and Chrome to be Safari. */
const BROWSERS: readonly [name: string, token: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:(?:Headless)?Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//],
]

/** Systems by their token, the more specific first: Android claims to be Linux, iOS to be like Mac OS X. */
const SYSTEMS: readonly [name: string, token: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

/**
 * Browser, major version and system (`Firefox 133, Linux`); of other programs the first product token (`curl/8.5.0`).
 * Undefined without one. The rest of the header, which identifies a person more closely, is dropped.
 */
export function clientName(userAgent: string): string | undefined {
  const header = userAgent.slice(0, 1_000)
  for (const [name, token] of BROWSERS) {
    const version = token.exec(header)?.[1]
    if (version === undefined) continue
    const system = SYSTEMS.find(([, sign]) => sign.test(header))?.[0]
    return `${name} ${version.slice(0, 8)}${system ? `, ${system}` : ''}`
  }
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(header)?.[0].slice(0, MAX_CHARS)
}
