import { describe, expect, test } from 'vitest'
import { authenticationAdvice } from './authentication-advice.ts'

describe('what to do about a refusal', () => {
  test.each<[text: string, enhanced: string | undefined, remedy: string]>([
    ['Gmail requires all senders to authenticate with either SPF or DKIM.', '4.7.26', 'several'],
    ["SPF authentication didn't pass for this message.", '4.7.27', 'spf'],
    ["This message wasn't sent over a TLS connection.", '4.7.29', 'tls'],
    ["DKIM authentication didn't pass for this message.", '4.7.30', 'dkim'],
    ["it doesn't have a DMARC record, or the DMARC record doesn't specify a DMARC policy", '4.7.40', 'dmarc_record'],
    ["From: header isn't aligned with either the authenticated SPF or DKIM domain", '5.7.32', 'alignment'],
    ["not accepted due to domain's DMARC policy", '5.7.26', 'alignment'],
    ['The IP address sending this message does not have a PTR record', '5.7.25', 'ptr'],
    ['cannot find your reverse hostname', '4.7.1', 'ptr'],
    ['does not meet the required authentication level', '5.7.515', 'several'],
    ['The message was rejected because of Sender Policy Framework violation', '5.7.23', 'spf'],
    ['MI:SPF mx1', undefined, 'spf'],
    ['MI:DMA mx1', undefined, 'alignment'],
    ['DT:SUM mx1', undefined, 'alignment'],
    ['DMARC check failed', undefined, 'alignment'],
    ['message refused', '5.7.20', 'dkim'],
    ['message refused', '5.7.22', 'alignment'],
    ['message refused', '5.7.24', 'spf'],
    ['message refused', '4.7.25', 'ptr'],
    ['message refused', '5.7.31', 'dmarc_record'],
    ['message refused', undefined, 'several'],
    ['', '5.7', 'several'],
  ])('%s (%s): %s', (text, enhanced, remedy) => {
    expect(authenticationAdvice({ text, enhanced }).code).toBe(`authentication.fix_${remedy}`)
  })
})
