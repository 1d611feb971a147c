/** Whether receivers can verify the mail of a domain: what Gmail, Yahoo and Outlook ask of those who send much. */

/** The result of the last check of one record. */
export interface CheckedRecord {
  /** Row of the guidance, as in `spf` or `dkim:pw202611a`. */
  row: string
  status: string
}

/** True when SPF, DMARC and at least one DKIM key were found in DNS at the last check. */
export function isAuthenticated(records: readonly CheckedRecord[]): boolean {
  const verified = records.filter(({ status }) => status === 'verified').map(({ row }) => row)
  return verified.includes('spf') && verified.includes('dmarc') && verified.some(row => row.startsWith('dkim:'))
}
