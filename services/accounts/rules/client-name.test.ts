import { expect, test } from 'vitest'
import { clientName } from './client-name.ts'

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64)'
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'

test.each([
  [`${LINUX.replace(')', '; rv:133.0)')} Gecko/20100101 Firefox/133.0`, 'Firefox 133, Linux'],
  [`${LINUX} ${CHROME}`, 'Chrome 131, Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Edg/131.0.2903.86`, 'Edge 131, Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} OPR/116.0.0.0`, 'Opera 116, Windows'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME.replace(' Safari', ' Mobile Safari')}`, 'Chrome 131, Android'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    'Safari 18, macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Safari 18, iOS',
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME}`, 'Chrome 131, ChromeOS'],
  [`${LINUX} ${CHROME.replace('Chrome', 'HeadlessChrome')}`, 'Chrome 131, Linux'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['python-requests/2.32.3', 'python-requests/2.32.3'],
  ['node', 'node'],
  [`Firefox/${'9'.repeat(900)}`, 'Firefox 99999999'],
  ['x'.repeat(2_000), 'x'.repeat(64)],
  ['<script>alert(1)</script>', undefined],
  ['\u202Eevil', undefined],
  ['', undefined],
])('%j is %j', (header, name) => expect(clientName(header)).toBe(name))
