/** The certificates that SMTP processes serve, as each of them reports. */
import { collectionOf, defineCollection, type Mongo } from '../../../platform/database/mongo.ts'
import type { CertificateFacts } from '../rules/certificate.ts'

/** A certificate that some SMTP process serves. `_id` is its SHA-256 fingerprint. */
export interface CertificateDoc extends Omit<CertificateFacts, 'names'> {
  _id: string
  names: string[]
  /** Where the processes read it. */
  file: string
  issuer: string
  /** When a process last reported that it serves it. */
  seen_at: Date
}

/** Certificates in service; one that no process serves any more goes by itself. */
export const CERTIFICATES = defineCollection<CertificateDoc>('certificates', [
  { key: { seen_at: 1 }, expireAfterSeconds: 1_800 },
])

/** Notes that a certificate is served at this time. */
export async function noteCertificate({ db }: Pick<Mongo, 'db'>, { _id, ...facts }: CertificateDoc): Promise<void> {
  await collectionOf(db, CERTIFICATES).updateOne({ _id }, { $set: facts }, { upsert: true })
}

/** Takes one off; processes that serve it still put it back. */
export async function dropCertificate({ db }: Pick<Mongo, 'db'>, id: string): Promise<void> {
  await collectionOf(db, CERTIFICATES).deleteOne({ _id: id })
}

/** The certificates in service, the one that ends first in front. */
export function servedCertificates({ db }: Pick<Mongo, 'db'>): Promise<CertificateDoc[]> {
  return collectionOf(db, CERTIFICATES).find().sort({ notAfter: 1 }).limit(100).toArray()
}
