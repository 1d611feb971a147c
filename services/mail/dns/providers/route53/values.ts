/** Values and names as Route 53 writes them: octets beyond printable ASCII are three octal digits. */
import { canonicalName } from '../../records/names.ts'
import { parseTxt, quoteTxt } from '../../records/record.ts'
import { PRESENTATION, type ValueCodec } from '../record-sets/record-set.ts'

/** Presentation format, with octal instead of decimal escapes. */
export const ROUTE53_VALUES: ValueCodec = {
  decode: (type, raw) => (type === 'TXT' ? parseTxt(replaceCodes(raw, 8, 10)) : PRESENTATION.decode(type, raw)),
  encode: (type, value) => (type === 'TXT' ? replaceCodes(quoteTxt(value), 10, 8) : PRESENTATION.encode(type, value)),
}

/** A name such as `\052.example.com.`, which stands for `*.example.com`. */
export function route53Name(text: string): string {
  return canonicalName(
    text.replace(/\\([0-3][0-7]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
  )
}

/** Numeric escapes in another base; other escapes stay. */
function replaceCodes(text: string, from: number, to: number): string {
  return text.replace(/\\(?:(\d{3})|([\s\S]))/g, (all, code: string | undefined) => {
    if (code === undefined) return all
    const octet = Number.parseInt(code, from)
    return Number.isNaN(octet) ? all : `\\${octet.toString(to).padStart(3, '0')}`
  })
}
