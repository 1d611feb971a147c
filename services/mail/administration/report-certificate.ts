/** Reports the certificate that an SMTP process serves: the panel may run where the files are not. */
import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import { type CertificateDoc, dropCertificate, noteCertificate } from './store/certificates.ts'

type Facts = Omit<CertificateDoc, 'file' | 'seen_at'>

/** How often a process repeats what it serves: some times within the life of a record. */
const REPEAT_MS = 480_000

/** Reads what matters off a PEM chain: its first certificate is the one that is served. */
function certificateFacts(pem: string): Facts {
  const certificate = new X509Certificate(pem)
  return {
    _id: certificate.fingerprint256,
    names: namesOf(certificate),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
    selfSigned: certificate.checkIssued(certificate),
    key: keyOf(certificate),
    issuer: commonName(certificate.issuer),
  }
}

/** Records the certificate that an SMTP process serves. Nothing rejects: mail matters more than this record. */
export interface CertificateNote {
  /** A certificate went into service in place of the one before. */
  serve(pem: string): Promise<void>
  stop(): void
}

/** Records the certificate of this process again every {@link REPEAT_MS} until it is stopped. */
export function reportCertificate(deps: { mongo: Mongo; clock: Clock; log: Log }, file: string): CertificateNote {
  const { mongo, clock, log } = deps
  let serving: Facts | undefined
  const note = (write: Promise<void>) =>
    write.catch((error: unknown) => log.warn({ err: error }, 'the certificate in service could not be noted'))
  const report = async () => {
    if (serving) await note(noteCertificate(mongo, { ...serving, file, seen_at: clock.now() }))
  }
  const timer = setInterval(() => void report(), REPEAT_MS).unref()
  return {
    async serve(pem) {
      const before = serving?._id
      serving = certificateFacts(pem)
      if (before !== undefined && before !== serving._id) await note(dropCertificate(mongo, before))
      await report()
    },
    stop: () => clearInterval(timer),
  }
}

function namesOf({ subjectAltName, subject }: X509Certificate): string[] {
  const names = [...(subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].flatMap(([, name]) => name ?? [])
  return names.length > 0 ? names : [commonName(subject)]
}

function commonName(subject: string | undefined): string {
  return /(?:^|\n)CN=([^\n]+)/.exec(subject ?? '')?.[1] ?? (subject ?? '').replaceAll('\n', ', ')
}

function keyOf({ publicKey }: X509Certificate): string {
  const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {}
  if (modulusLength !== undefined) return `RSA ${modulusLength}`
  if (namedCurve !== undefined) return `EC ${namedCurve === 'prime256v1' ? 'P-256' : namedCurve}`
  return publicKey.asymmetricKeyType ?? ''
}
