/** DMARC and TLS reports as receivers send them, and archives of any content. */
import { crc32, deflateRawSync } from 'node:zlib'

/** A record of a DMARC report; texts go into the XML as they are. */
export interface XmlRecord {
  ip?: string
  count?: string
  disposition?: string
  dkim?: string
  spf?: string
  reason?: string
  from?: string
  /** Domain and result of the signature, and of the envelope sender. */
  signature?: [string, string]
  sender?: [string, string]
}

/** Where a report differs from a small valid one. */
export interface XmlReport {
  domain?: string
  org?: string
  id?: string
  begin?: number
  end?: number
  records?: readonly XmlRecord[]
  /** RFC 9990 instead of RFC 7489. */
  modern?: boolean
}

const DAY = 86_400

/** The begin of yesterday in UTC, in seconds: the day of a report that arrives today. */
export function yesterday(now = Date.now()): number {
  return Math.floor(now / 1000 / DAY) * DAY - DAY
}

/** A report in XML. */
export function dmarcXml(report: XmlReport = {}): string {
  const { domain = 'example.com', org = 'receiver.example', id = 'report-1', modern = false } = report
  const { begin = yesterday(), end = begin + DAY - 1, records = [{}] } = report
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback${modern ? ' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"' : ''}>
  <version>1.0</version>
  <report_metadata>
    <org_name>${org}</org_name>
    <email>noreply-dmarc@${org}</email>
    <report_id>${id}</report_id>
    <date_range><begin>${begin}</begin><end>${end}</end></date_range>
    ${modern ? '<generator>Example 1.2</generator>' : ''}
  </report_metadata>
  <policy_published>
    <domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p>
    ${modern ? '<np>none</np><testing>n</testing><discovery_method>treewalk</discovery_method>' : '<pct>100</pct>'}
  </policy_published>
${records.map(record => recordXml(record, domain)).join('\n')}
</feedback>
`
}

function recordXml(record: XmlRecord, domain: string): string {
  const { ip = '192.0.2.1', count = '3', disposition = 'none', dkim = 'pass', spf = 'pass', from = domain } = record
  const { signature = [domain, dkim], sender = [domain, spf], reason } = record
  return `  <record>
    <row>
      <source_ip>${ip}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>
        ${reason ? `<reason><type>${reason}</type><comment>by &lt;rule&gt;</comment></reason>` : ''}
      </policy_evaluated>
    </row>
    <identifiers><envelope_from>${sender[0]}</envelope_from><header_from>${from}</header_from></identifiers>
    <auth_results>
      <dkim><domain>${signature[0]}</domain><selector>s1</selector><result>${signature[1]}</result></dkim>
      <spf><domain>${sender[0]}</domain><scope>mfrom</scope><result>${sender[1]}</result></spf>
    </auth_results>
  </record>`
}

/** A TLS report (RFC 8460 appendix B) about a domain. */
export function tlsReport(domain = 'example.com', more: object = {}) {
  const day = new Date(yesterday() * 1000).toISOString()
  return {
    'organization-name': 'Sender Inc.',
    'date-range': { 'start-datetime': day, 'end-datetime': `${day.slice(0, 10)}T23:59:59Z` },
    'contact-info': 'sts-reporting@sender.example',
    'report-id': 'tls-1',
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: testing', `mx: *.mail.${domain}`, 'max_age: 86400'],
          'policy-domain': domain,
          'mx-host': [`*.mail.${domain}`],
        },
        summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': 303 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '2001:db8:abcd:0012::1',
            'receiving-mx-hostname': `mx1.mail.${domain}`,
            'failed-session-count': 100,
          },
          {
            'result-type': 'starttls-not-supported',
            'sending-mta-ip': '2001:db8:abcd:0013::1',
            'receiving-mx-hostname': `mx2.mail.${domain}`,
            'receiving-ip': '203.0.113.56',
            'failed-session-count': 200,
            'additional-information': 'https://reports.sender.example/5065427c-23d3',
          },
        ],
      },
    ],
    ...more,
  }
}

/** A zip archive; `size` is what it states about a file, whatever the file has. */
export function zipOf(files: readonly { name: string; content: Buffer; size?: number; flags?: number }[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const { name, content, size = content.length, flags = 0 } of files) {
    const packed = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, Buffer.from(name)]))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end])
}
